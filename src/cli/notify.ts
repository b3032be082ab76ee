/** Notifies a dead man's switch, commands and a webhook of a sync. Problems are warnings, and don't change the exit code. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { below, post, readUrl, sendSigned } from './send-notice.ts';
import { listenForSignals } from './signals.ts';
import type { allOptions, notifyOptions } from './options/all-options.ts';
import type { Values } from './options/option.ts';
import { ExitCode, messageOf, RekapError } from '../errors.ts';
import { renderMetrics } from '../notify/metrics.ts';
import { lockAndRecordKilled } from '../publish/killed-runs.ts';
import { boundSignal } from '../runtime/bound-signal.ts';
import { summarizeRuns } from '../snapshots/freshness.ts';
import { requireOutside, writeAside } from '../snapshots/query/write-aside.ts';
import { readRuns, type RunLine } from '../warehouse/runs-log.ts';

/** The JSON that commands and webhooks get. */
interface Notice extends Partial<RunLine> {
  readonly event: 'published' | 'held' | 'unchanged' | 'dry run' | 'failed';
  readonly warehouse: string;
  readonly exit_code: number;
  readonly reason: string;
}

interface EndedSync {
  readonly begunAt: Date;
  /** Null if the run didn't get an ID. */
  readonly run: string | null;
  /** Null if the sync succeeded. */
  readonly failure: { readonly error: unknown } | null;
}

export interface Notifier {
  begin(): Promise<void>;
  end(ended: EndedSync): Promise<void>;
}

/** Milliseconds that one command can run. */
const commandTimeout = 60_000;

/** Milliseconds for notifications after a signal. Container engines kill after ten seconds. */
const gracePeriod = 5000;
const never = new AbortController().signal;
const stopped = new Error('it was stopped by a signal');

/** Returns a signal that aborts a grace period after `signal`. */
function delayAbort(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const begin = (): void => void setTimeout(() => controller.abort(stopped), gracePeriod).unref();
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return controller.signal;
}

/** @throws `usage` if a URL is malformed. */
export async function readNotifier(
  args: Values<typeof notifyOptions & Pick<typeof allOptions, 'warehouse'>>,
  warn: (message: string) => void,
): Promise<Notifier> {
  const orWarn = async (what: string, send: () => Promise<void>): Promise<void> => {
    try {
      await send();
    } catch (error) {
      warn(`${what} failed: ${messageOf(error)}`);
    }
  };
  const pingUrl = readUrl(args['ping-url']?.trim(), 'ping-url');
  const webhook = readUrl(args.webhook, 'webhook');
  const secret = (process.env['REKAP_WEBHOOK_SECRET'] ?? '').trim() || null;
  // Other events don't change the current snapshot.
  const commands: Partial<Record<Notice['event'], string | undefined>> = {
    published: args['on-publish'],
    failed: args['on-failure'],
  };
  const metricsFile = args['metrics-file'];
  if (metricsFile !== undefined) await requireOutside(metricsFile, args.warehouse, '--metrics-file');
  /** Sends the last notice to the switch, and all of them to commands and the webhook. */
  const send = async (notices: readonly Notice[]): Promise<void> => {
    const { event, reason } = notices.at(-1)!;
    const listener = listenForSignals();
    const signal = delayAbort(listener.signal);
    if (pingUrl !== null)
      await orWarn('The ping', () =>
        post(event === 'failed' ? below(pingUrl, 'fail') : pingUrl, reason.slice(0, 1000), {}, signal),
      );
    if (metricsFile !== undefined)
      await orWarn('Writing the metrics file', () => writeMetrics(metricsFile, args.warehouse));
    for (const notice of notices) {
      const body = JSON.stringify(notice);
      const command = commands[notice.event];
      if (webhook !== null) await orWarn('The webhook', () => sendSigned(webhook, body, secret, signal));
      if (command !== undefined) await orWarn('The command', () => runCommand(command, body, notice, signal));
    }
    listener.stop();
  };
  return {
    async begin() {
      // If this fails, the sync fails for the same reason.
      const killed = await lockAndRecordKilled(args.warehouse).catch(() => []);
      const notices = killed.map((line): Notice => {
        return { ...line, event: line.outcome === 'published' ? 'published' : 'failed', warehouse: args.warehouse };
      });
      if (notices.length > 0) await send(notices);
      if (pingUrl !== null) await orWarn('The ping', () => post(below(pingUrl, 'start'), '', {}, never));
    },
    end: async (ended) => send(await createNotices(args.warehouse, ended)),
  };
}

async function writeMetrics(file: string, warehouse: string): Promise<void> {
  await requireOutside(file, warehouse, '--metrics-file');
  const text = renderMetrics(summarizeRuns(await readRuns(warehouse)));
  await writeAside(file, (aside) => writeFile(aside, text));
}

/** Variables that can contain secrets. Commands don't get them. */
const secretVariables = /^(REKAP_(API_KEYS?|PING_URL|WEBHOOK(_SECRET)?)|OTEL_EXPORTER_OTLP_(\w+_)?HEADERS)$/;

/** Runs a command with its output on stderr, because stdout is for the summary. After a timeout, kills it and its children. */
async function runCommand(command: string, body: string, notice: Notice, signal: AbortSignal): Promise<void> {
  const environment = Object.entries(process.env).filter(([name]) => !secretVariables.test(name));
  const child = spawn(command, {
    shell: true,
    // A process group can be killed as a whole.
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
  // The command may close stdin early.
  child.stdin?.on('error', () => undefined);
  // Without a listener, an error after the time limit would end the process.
  child.on('error', () => undefined);
  child.stdin?.end(body);
  const late = new Error(`it did not finish within ${commandTimeout / 1000} s`);
  const limit = boundSignal(signal, commandTimeout, () => late);
  try {
    const [code, killedBy] = await once(child, 'exit', { signal: limit.signal });
    if (code !== 0) throw new Error(code === null ? `ended by ${killedBy}` : `exit code ${code}`);
  } catch (error) {
    if (!limit.signal.aborted) throw error;
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    throw limit.signal.reason;
  } finally {
    limit.end();
  }
}

/** Returns the result of a sync, its failure, or both if it published a snapshot but the push failed. */
async function createNotices(warehouse: string, { begunAt, run, failure }: EndedSync): Promise<Notice[]> {
  const lines = await readRuns(warehouse).catch(() => []);
  // Another sync may have finished during the push, which doesn't lock the warehouse.
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
