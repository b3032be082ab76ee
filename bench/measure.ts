/** Runs the built command in a process of its own, and measures its wall time, CPU time and peak memory. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SyncFigures } from '../src/publish/run.ts';

/** The built command line. */
export const command = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));

/**
 * Runs in the child before its own code, and writes what the child used when it exits. `maxRSS` starts at the memory of the parent, so the
 * high-water mark of the process itself comes first.
 */
const writeUsage = `
import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  let kilobytes = maxRSS;
  try { kilobytes = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]); } catch {}
  writeFileSync(process.env.BENCH_USAGE_FILE, JSON.stringify({ peak: kilobytes * 1024, cpu: (userCPUTime + systemCPUTime) / 1000 }));
});`;

interface Usage {
  /** The most memory that the process used at any time, in bytes. */
  readonly peak: number;
  /** Milliseconds on all cores. */
  readonly cpu: number;
}

/** One run of the command. Times are milliseconds. */
export interface Measured extends Usage {
  readonly milliseconds: number;
  readonly figures: SyncFigures;
  readonly steps: Readonly<Record<string, number>>;
}

/** Runs `act` with a temporary folder. */
export async function withFolder<Value>(act: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-bench-'));
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Syncs `url` into a new warehouse, which is then removed. Throws if the sync fails. */
export async function measureSync(url: string, options: readonly string[]): Promise<Measured> {
  return withFolder((folder) => measureSyncInto(join(folder, 'warehouse'), url, options));
}

export async function measureSyncInto(
  warehouse: string,
  url: string,
  options: readonly string[] = [],
): Promise<Measured> {
  return withFolder(async (folder) => {
    const usageFile = join(folder, 'usage.json');
    const hook = `data:text/javascript,${encodeURIComponent(writeUsage)}`;
    const words = ['sync', '--base-url', url, '--warehouse', warehouse, '--json', ...options];
    const began = performance.now();
    const child = spawn(process.execPath, ['--import', hook, command, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, REKAP_API_KEY: 'bench', BENCH_USAGE_FILE: usageFile },
    });
    const [output, messages, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ]);
    const milliseconds = performance.now() - began;
    if (code !== 0) throw new Error(`rekap ${words.join(' ')} exited with ${code}:\n${messages}`);
    const { figures } = JSON.parse(output) as { figures: SyncFigures };
    const usage = JSON.parse(await readFile(usageFile, 'utf8')) as Usage;
    const runs = (await readFile(join(warehouse, 'runs.jsonl'), 'utf8')).trimEnd().split('\n');
    const { steps } = JSON.parse(runs.at(-1)!) as Pick<Measured, 'steps'>;
    return { milliseconds, ...usage, figures, steps };
  });
}

/** Runs Node with these arguments, and returns the milliseconds until it has exited. */
export async function timeNode(words: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, words, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  const milliseconds = performance.now() - began;
  if (code !== 0) throw new Error(`node ${words.join(' ')} exited with ${code}.`);
  return milliseconds;
}

/** Runs `act`, and returns the milliseconds that it takes. */
export async function time(act: () => void | Promise<void>): Promise<number> {
  globalThis.gc?.();
  const began = performance.now();
  await act();
  return performance.now() - began;
}
