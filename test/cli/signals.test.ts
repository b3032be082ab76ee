/** The first signal ends the run in good order, a later one ends the process. */

import { describe, expect, it, vi } from 'vitest';
import { listenForSignals } from '../../src/cli/signals.ts';

/** Sends a signal at each of these milliseconds; gives the exit codes that the process was ended with, and the signal's reason. */
function sendAt(times: readonly number[], name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' = 'SIGTERM') {
  let now = 0;
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  const listening = listenForSignals({}, { monotonic: () => now });
  for (now of times) process.emit(name);
  listening.stop();
  const codes = exit.mock.calls.map(([code]) => code);
  exit.mockRestore();
  return { codes, reason: listening.signal.reason as unknown };
}

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s aborts with its exit code, without ending the process', (name, exitCode) => {
    const { codes, reason } = sendAt([0], name);
    expect(reason).toMatchObject({ code: 'interrupted', exitCode });
    expect(codes).toEqual([]);
  });

  it('is ignored if it is repeated at once, as by timeout(1)', () => {
    expect(sendAt([0, 20]).codes).toEqual([]);
  });

  it('also ends what starts later in the same command, such as the sync of a schedule', () => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    const outer = listenForSignals();
    process.emit('SIGTERM');
    const inner = listenForSignals();
    expect(inner.signal.reason).toMatchObject({ exitCode: 143 });
    inner.stop();
    outer.stop();
    const later = listenForSignals();
    expect(later.signal.aborted).toBe(false);
    later.stop();
    exit.mockRestore();
  });

  it('ends the process if it is repeated later', () => {
    expect(sendAt([0, 20, 5000], 'SIGTERM').codes).toEqual([143]);
    expect(sendAt([0, 5000], 'SIGINT').codes).toEqual([130]);
  });
});
