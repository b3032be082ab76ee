/**
 * Tells others how a sync went: a dead man's switch by its URL, commands of the user, and a webhook. What goes wrong here is a warning and
 * changes no exit code.
 */

import { spawn } from 'node:child_process';
import { below, boundTime, post, readUrl, sendSigned } from './send-notice.ts';
import { listenForSignals } from './signals.ts';
import type { notifyOptions } from './options/notify-options.ts';
import type { Values } from './options/option.ts';
import { readNamedFile, type warehouseOption } from './options/shared.ts';
import { ExitCode, messageOf, RekapError } from '../errors.ts';
import type { RunLine } from '../warehouse/runs-log.ts';

/** What others are told of a run; also the JSON that commands and webhooks get. */
interface Notice extends Partial<RunLine> {
  readonly event: 'published' | 'held' | 'unchanged' | 'dry run' | 'failed';
  readonly warehouse: string;
  readonly exit_code: number;
  readonly reason: string;
}

/** How a sync came to its end. */
interface Ended {
  readonly begunAt: Date;
  /** Its id; null where it did not come so far. */
  readonly run: string | null;
  /** Null where it gave a result. */
  readonly failure: { readonly error: unknown } | null;
}

export interface Notifier {
  begin(): Promise<void>;
  end(ended: Ended): Promise<void>;
}

/** Milliseconds for one command. */
const commandTime = 60_000;

/** Milliseconds that telling may still take once a signal has come: container engines kill after ten seconds. */
const lastPatience = 5000;
const never = new AbortController().signal;

/** Aborts a moment after the signal. */
function boundPatience(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const begin = (): void => void setTimeout(() => controller.abort(), lastPatience).unref();
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return controller.signal;
}

/** @throws `usage` for a malformed address, `configuration` for a file that cannot be read. */
export async function readNotifier(
  args: Values<typeof notifyOptions & typeof warehouseOption>,
  warn: (message: string) => void,
): Promise<Notifier> {
  const orWarn = async (what: string, tell: () => Promise<void>): Promise<void> => {
    try {
      await tell();
    } catch (error) {
      warn(`${what} failed: ${messageOf(error)}`);
    }
  };
  const pingFile = args['ping-url-file'];
  const ping = pingFile === undefined ? args['ping-url'] : await readNamedFile('file', pingFile, 'ping-url-file');
  const pingUrl = readUrl(ping?.trim(), 'ping-url');
  const webhook = readUrl(args.webhook, 'webhook');
  const secretFile = args['webhook-secret-file'];
  const secret =
    secretFile === undefined ? null : (await readNamedFile('secret', secretFile, 'webhook-secret-file')).trim();
  const commands: Readonly<Record<Notice['event'], string | undefined>> = {
    published: args['on-publish'],
    unchanged: args['on-unchanged'],
    failed: args['on-failure'],
    // Readers see nothing new.
    held: undefined,
    'dry run': undefined,
  };
  const metricsFile = args['metrics-file'];
  if (metricsFile !== undefined) {
    const { requireOutside } = await import('../snapshots/query/write-aside.ts');
    await requireOutside(metricsFile, args.warehouse, '--metrics-file');
  }
  return {
    async begin() {
      if (pingUrl !== null) await orWarn('The ping', () => post(below(pingUrl, 'start'), '', {}, never));
    },
    async end(ended) {
      const { warehouse } = args;
      const notices = await noticesOf(warehouse, ended);
      const { event, reason } = notices.at(-1)!;
      const signals = listenForSignals();
      const patience = boundPatience(signals.signal);
      if (pingUrl !== null)
        await orWarn('The ping', () =>
          post(event === 'failed' ? below(pingUrl, 'fail') : pingUrl, reason.slice(0, 1000), {}, patience),
        );
      if (metricsFile !== undefined) await orWarn('The metrics file', () => writeMetrics(metricsFile, warehouse));
      for (const notice of notices) {
        const body = JSON.stringify(notice);
        const command = commands[notice.event];
        if (webhook !== null) await orWarn('The webhook', () => sendSigned(webhook, body, secret, patience));
        if (command !== undefined) await orWarn('The command', () => runCommand(command, body, notice, patience));
      }
      signals.stop();
    },
  };
}

async function writeMetrics(file: string, warehouse: string): Promise<void> {
  const [{ writeFile }, { requireOutside, writeAside }, { readRuns }, { renderMetrics }, { summarizeRuns }] =
    await Promise.all([
      import('node:fs/promises'),
      import('../snapshots/query/write-aside.ts'),
      import('../warehouse/runs-log.ts'),
      import('../notify/metrics.ts'),
      import('../snapshots/freshness.ts'),
    ]);
  await requireOutside(file, warehouse, '--metrics-file');
  const text = renderMetrics(summarizeRuns(await readRuns(warehouse)));
  await writeAside(file, (aside) => writeFile(aside, text));
}

/** Variables that hold secrets, or may, which a command does not get. */
const secretVariables = /^(REKAP_(API_KEYS?|PING_URL|WEBHOOK)|OTEL_EXPORTER_OTLP_(\w+_)?HEADERS)$/;

/** Its output goes to stderr, where progress is: stdout is the summary's. Out of time, it ends with all that it has started. */
async function runCommand(command: string, body: string, notice: Notice, patience: AbortSignal): Promise<void> {
  const environment = Object.entries(process.env).filter(([name]) => !secretVariables.test(name));
  const child = spawn(command, {
    shell: true,
    // In a group of its own, which can be ended as a whole.
    detached: true,
    stdio: ['pipe', 2, 2],
    env: {
      ...Object.fromEntries(environment),
      REKAP_EVENT: notice.event,
      REKAP_RUN: notice.run ?? '',
      REKAP_SNAPSHOT: notice.snapshot ?? '',
      REKAP_WAREHOUSE: notice.warehouse,
      REKAP_EXIT_CODE: String(notice.exit_code),
      REKAP_REASON: notice.reason.slice(0, 1000),
    },
  });
  // A command need not read what it is given.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(body);
  const limit = boundTime(commandTime, patience);
  try {
    await new Promise<void>((done, fail) => {
      const end = (): void => {
        if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
        fail(new Error(patience.aborted ? 'a signal ended it' : `it did not finish within ${commandTime / 1000} s`));
      };
      if (limit.signal.aborted) end();
      limit.signal.addEventListener('abort', end, { once: true });
      child.once('error', fail);
      child.once('exit', (code, signal) => {
        if (code === 0) done();
        else fail(new Error(code === null ? `ended by ${signal}` : `exit code ${code}`));
      });
    });
  } finally {
    limit.end();
  }
}

/**
 * What there is to tell of a sync: its result, its failure, or both where it published and its push failed. Whoever waits for new figures
 * hears of them then, too.
 */
async function noticesOf(warehouse: string, { begunAt, run, failure }: Ended): Promise<Notice[]> {
  const { readRuns } = await import('../warehouse/runs-log.ts');
  const lines = await readRuns(warehouse).catch(() => []);
  // Another sync may have ended meanwhile: the warehouse is free during a push.
  const line = lines.findLast(
    (other) => other.kind === 'sync' && other.run === run && Date.parse(other.started_at) >= begunAt.getTime(),
  );
  const outcome = line?.outcome ?? (failure === null ? 'published' : 'failed');
  const isResult = outcome === 'published' || outcome === 'held' || outcome === 'unchanged' || outcome === 'dry run';
  const results: Notice[] = isResult
    ? [{ ...line, event: outcome, warehouse, exit_code: ExitCode.done, reason: '' }]
    : [];
  if (failure === null) return results;
  const { error } = failure;
  const exit_code = error instanceof RekapError ? error.exitCode : ExitCode.unexpected;
  return [...results, { ...line, event: 'failed', warehouse, exit_code, reason: messageOf(error) }];
}
