/** Runs the built command in a process of its own and measures its wall time and its peak memory. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SyncFigures } from '../src/run-options.ts';

/** The built command line. */
export const command = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));

/**
 * Runs in the child before its own code: writes its peak memory to a file when it ends. The kernel's high-water mark of the
 * process itself comes first, for `maxRSS` begins at what the parent used when it started the child.
 */
const reportPeak = `
import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  let kilobytes = process.resourceUsage().maxRSS;
  try { kilobytes = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]); } catch {}
  writeFileSync(process.env.BENCH_PEAK_FILE, String(kilobytes * 1024));
});`;

/** What one run of the command came to. */
export interface Measured {
  readonly milliseconds: number;
  /** Most memory that the process ever had in use, in bytes. */
  readonly peak: number;
  readonly figures: SyncFigures;
}

/** Syncs `url` into a new warehouse, which is removed afterwards. Throws where the sync fails. */
export async function measureSync(url: string, options: readonly string[]): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-bench-'));
  try {
    const peakFile = join(folder, 'peak');
    const hook = `data:text/javascript,${encodeURIComponent(reportPeak)}`;
    const words = ['sync', '--base-url', url, '--warehouse', join(folder, 'warehouse'), '--json', ...options];
    const began = performance.now();
    const child = spawn(process.execPath, ['--import', hook, command, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, REKAP_API_KEY: 'bench', BENCH_PEAK_FILE: peakFile },
    });
    const [output, complaints, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ]);
    const milliseconds = performance.now() - began;
    if (code !== 0) throw new Error(`rekap ${words.join(' ')} ended with ${code}:\n${complaints}`);
    const { figures } = JSON.parse(output) as { figures: SyncFigures };
    return { milliseconds, peak: Number(await readFile(peakFile, 'utf8')), figures };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs node with these arguments to its end, output thrown away, and gives the milliseconds that it took. */
export async function timeNode(words: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, words, { stdio: 'ignore', env });
  const [code] = (await once(child, 'exit')) as [number | null];
  const milliseconds = performance.now() - began;
  if (code !== 0) throw new Error(`node ${words.join(' ')} ended with ${code}.`);
  return milliseconds;
}

/** Runs `act` and gives the milliseconds that it took. */
export async function time(act: () => void | Promise<void>): Promise<number> {
  globalThis.gc?.();
  const began = performance.now();
  await act();
  return performance.now() - began;
}
