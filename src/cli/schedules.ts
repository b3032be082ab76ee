/** Declares the schedulers that `rekap init` supports, with their files and the commands that enable them. */

/** The values of placeholders in deploy/, such as {{folder}}. Paths are absolute. */
export interface Places {
  readonly node: string;
  readonly cli: string;
  readonly folder: string;
  readonly warehouse: string;
  readonly keyFile: string;
  readonly user: string;
}

export interface Schedule {
  /** Paths in deploy/ by path in the output folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly when: string;
  /** Says how to set up notifications of failed syncs, if rekap.json sets up none. By default `notNotified`, with a period. */
  readonly ifUnset?: string;
  /** Says what to consider if rekap.json sets "ping-url" or "on-failure". */
  readonly ifSet?: string;
  /** Commands with placeholders. */
  readonly enable: readonly string[];
}

export const notNotified =
  'A failed sync sends no notification. To set one up, add "ping-url" or "on-failure" to rekap.json';

export const schedules = {
  systemd: {
    files: {
      'rekap.service': 'systemd/rekap.service',
      'rekap.timer': 'systemd/rekap.timer',
      'rekap-failed.service': 'systemd/rekap-failed.service',
    },
    when: 'A sync starts daily between 03:00 and 03:15, local time. To change this, edit OnCalendar in rekap.timer.',
    ifUnset: `${notNotified}, or your command to rekap-failed.service.`,
    ifSet:
      'The command of "on-failure" has the restrictions of rekap.service. If it sends email or writes files, add it to rekap-failed.service instead.',
    enable: [
      'mkdir -p {{warehouse}} && sudo cp {{folder}}/rekap*.service {{folder}}/rekap.timer /etc/systemd/system/',
      'sudo systemctl daemon-reload && sudo systemctl enable --now rekap.timer',
    ],
  },
  cron: {
    files: { 'rekap.cron': 'cron/rekap.cron' },
    when: 'A sync starts daily at 03:00, local time. To change this, edit rekap.cron.',
    enable: ['(crontab -l 2> /dev/null; cat {{folder}}/rekap.cron) | crontab -', 'crontab -l'],
  },
  kubernetes: {
    files: { 'rekap.yaml': 'kubernetes/rekap.yaml', 'rekap-serve.yaml': 'kubernetes/rekap-serve.yaml' },
    when: 'A sync starts daily at 03:00, Jakarta time. To change this, edit schedule in rekap.yaml.',
    ifSet:
      'In the cluster, anyone who can read ConfigMaps can read it. To prevent this, move the secret to the Secret rekap-env, such as to REKAP_PING_URL.',
    enable: [
      'kubectl create secret generic rekap-api-key --from-file=api-key={{keyFile}} && kubectl create configmap rekap-config --from-file={{folder}}/rekap.json',
      'kubectl apply -f {{folder}}/rekap.yaml',
    ],
  },
  'github-actions': {
    files: { '.github/workflows/rekap.yaml': 'github-actions/rekap.yaml' },
    when: 'A sync starts daily at about 03:00, Jakarta time. To change this, edit cron in .github/workflows/rekap.yaml.',
    ifUnset: 'GitHub notifies the last person who edited the schedule of a failed sync, by email.',
    ifSet:
      'Once you push rekap.json, anyone who can read the repository can read it. To prevent this, first move the secret to a repository secret, such as REKAP_PING_URL.',
    enable: [
      'gh secret set REKAP_API_KEY < {{keyFile}}',
      'cd {{folder}} && git add rekap.json .github && git commit -m "Sync every night" && git push',
    ],
  },
  compose: {
    files: { 'compose.yaml': 'compose.yaml' },
    when: 'A sync starts daily at 03:00, Jakarta time. To change this, edit --cron in compose.yaml.',
    ifSet:
      'The user of the container (1000) must be able to read it. If your user ID differs, run: sudo chown 1000 {{folder}}/rekap.json',
    enable: ['sudo chown 1000 {{keyFile}}', 'docker compose --project-directory {{folder}} up --detach schedule'],
  },
} as const satisfies Readonly<Record<string, Schedule>>;

export const scheduleNames = Object.keys(schedules) as (keyof typeof schedules)[];

export function fillIn(text: string, places: Places): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(places, name) ? places[name as keyof Places] : whole,
  );
}
