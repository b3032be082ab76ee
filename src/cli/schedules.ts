/** Files for the schedulers that people have: each takes where things lie, gives its files and what to do with them. */

/** Where things lie, as absolute paths. */
export interface Places {
  /** Node, and the command line of rekap. */
  readonly node: string;
  readonly cli: string;
  /** Folder of rekap.json. */
  readonly folder: string;
  readonly warehouse: string;
}

export interface Schedule {
  /** Texts by the path of the file below the folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Commands that enable it. */
  readonly enable: readonly string[];
}

export const scheduleNames = ['systemd', 'cron', 'kubernetes', 'github-actions'] as const;
export type ScheduleName = (typeof scheduleNames)[number];

const made = '# Made by "rekap init". Change it as you like.';

const systemd = ({ node, cli, folder, warehouse }: Places): Schedule => ({
  files: {
    'rekap.service': `${made}
[Unit]
Description=Sync the DPR-RI voter statistics
Wants=network-online.target
After=network-online.target
OnFailure=rekap-failed.service

[Service]
Type=oneshot
WorkingDirectory=${folder}
# The key stays in a file that only root can read; systemd hands it on.
LoadCredential=api-key:${folder}/api-key
ExecStart=${node} ${cli} sync --config ${folder}/rekap.json --api-key-file %d/api-key
TimeoutStartSec=2h
NoNewPrivileges=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectSystem=strict
ProtectHome=read-only
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictSUIDSGID=yes
ReadWritePaths=${warehouse}
`,
    'rekap.timer': `${made}
[Unit]
Description=Every night

[Timer]
OnCalendar=*-*-* 03:00:00
RandomizedDelaySec=15min
# A night in which the machine was off is caught up.
Persistent=true

[Install]
WantedBy=timers.target
`,
    'rekap-failed.service': `${made}
[Unit]
Description=Say that a sync failed

[Service]
Type=oneshot
WorkingDirectory=${folder}
# Put here what should reach you, such as a mail.
ExecStart=${node} ${cli} status --warehouse ${warehouse}
SuccessExitStatus=6 7
`,
  },
  enable: [
    `mkdir -p ${warehouse}`,
    `sudo cp ${folder}/rekap*.service ${folder}/rekap.timer /etc/systemd/system/`,
    'sudo systemctl daemon-reload && sudo systemctl enable --now rekap.timer',
  ],
});

const cron = ({ node, cli, folder }: Places): Schedule => ({
  files: {
    'rekap.cron': `${made}
0 3 * * * cd ${folder} && ${node} ${cli} sync --config rekap.json --api-key-file api-key >> sync.log 2>&1
`,
  },
  enable: [`(crontab -l 2> /dev/null; cat ${folder}/rekap.cron) | crontab -`, 'crontab -l'],
});

const kubernetes = (): Schedule => ({
  files: {
    'rekap.yaml': `${made}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: rekap-warehouse
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 2Gi } }
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: rekap
spec:
  schedule: "0 3 * * *"
  timeZone: Asia/Jakarta
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 7200
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 7
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: 7200
      template:
        spec:
          restartPolicy: Never
          securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
          containers:
            - name: rekap
              # An image of yours with Node and rekap in it, whose entry point is rekap.
              image: rekap:0.1.0
              args: [sync, --config, /config/rekap.json, --warehouse, /warehouse, --log-format, json]
              envFrom:
                - secretRef: { name: rekap-api-key }
              securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
              resources:
                requests: { cpu: 250m, memory: 256Mi }
                limits: { memory: 2Gi }
              volumeMounts:
                - { name: warehouse, mountPath: /warehouse }
                - { name: config, mountPath: /config }
                - { name: tmp, mountPath: /tmp }
          volumes:
            - { name: warehouse, persistentVolumeClaim: { claimName: rekap-warehouse } }
            - { name: config, configMap: { name: rekap-config } }
            - { name: tmp, emptyDir: {} }
`,
  },
  enable: [
    'kubectl create secret generic rekap-api-key --from-file=REKAP_API_KEY=api-key',
    'kubectl create configmap rekap-config --from-file=rekap.json && kubectl apply -f rekap.yaml',
  ],
});

const githubActions = (): Schedule => ({
  files: {
    '.github/workflows/rekap.yaml': `${made}
name: rekap
on:
  schedule:
    # In UTC: 03:00 in Jakarta.
    - cron: "0 20 * * *"
  workflow_dispatch: {}
permissions:
  contents: read
concurrency: rekap
jobs:
  sync:
    runs-on: ubuntu-latest
    timeout-minutes: 120
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24, cache: npm }
      - run: npm ci
      - uses: actions/cache@v4
        with:
          path: data/warehouse
          key: rekap-warehouse-\${{ github.run_id }}
          restore-keys: rekap-warehouse-
      - run: npx rekap sync --config rekap.json
        env:
          REKAP_API_KEY: \${{ secrets.REKAP_API_KEY }}
      - uses: actions/upload-artifact@v4
        with:
          name: report
          path: data/warehouse/current/report.html
`,
  },
  enable: [
    'gh secret set REKAP_API_KEY < api-key',
    'git add rekap.json .github && git commit -m "Sync every night" && git push',
  ],
});

export const schedules: Readonly<Record<ScheduleName, (places: Places) => Schedule>> = {
  systemd,
  cron,
  kubernetes,
  'github-actions': githubActions,
};
