/** Colors follow the environment, and a failure says what happened and what to do next. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { RekapError } from '../../../src/errors.ts';
import { beginInvocation } from '../../../src/cli/options/invocation.ts';
import { paint, printError } from '../../../src/cli/print/terminal.ts';

const bold = '\u001b[1mtext\u001b[22m';
const terminal = { isTTY: true } as NodeJS.WriteStream;
const pipe = { isTTY: false } as NodeJS.WriteStream;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Exactly these variables of those that speak of colours. */
function setColours(variables: Readonly<Record<string, string>>): void {
  for (const name of ['FORCE_COLOR', 'NO_COLOR', 'TERM']) vi.stubEnv(name, variables[name]);
}

describe('colours', () => {
  it.each<[Record<string, string>, NodeJS.WriteStream, boolean]>([
    [{ TERM: 'xterm' }, terminal, true],
    [{}, terminal, true],
    [{ TERM: 'dumb' }, terminal, false],
    [{ NO_COLOR: '1', TERM: 'xterm' }, terminal, false],
    [{ TERM: 'xterm' }, pipe, false],
    [{ NO_COLOR: '', TERM: 'xterm' }, terminal, true],
    [{ FORCE_COLOR: '1' }, pipe, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, pipe, true],
    [{ FORCE_COLOR: '0', TERM: 'xterm' }, terminal, false],
    [{ FORCE_COLOR: '0' }, pipe, false],
  ])('with %j on %j: %s', (variables, stream, painted) => {
    setColours(variables);
    expect(paint('bold', 'text', stream)).toBe(painted ? bold : 'text');
  });
});

describe('a failure', () => {
  /** What printing it writes to stderr. */
  function printed(error: unknown): string {
    setColours({ NO_COLOR: '1' });
    beginInvocation(null);
    let text = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((piece) => {
      text += String(piece);
      return true;
    });
    printError(error);
    vi.restoreAllMocks();
    return text;
  }

  it('of the user says what to do next, without a stack trace', () => {
    vi.stubEnv('REKAP_DEBUG', '1');
    expect(printed(new RekapError('usage', 'One.\n  - Two \u001b[2J', 'Do this.'))).toBe(
      'rekap: One.\n  - Two \\u001b[2J\n  Do this.\n',
    );
    expect(printed(new RekapError('usage', 'One.'))).toBe('rekap: One.\n');
  });

  it('of rekap is called a bug, and has its stack trace on request', () => {
    const fault = new TypeError('nothing\u001b there');
    vi.stubEnv('REKAP_DEBUG', undefined);
    const message = 'rekap: unexpected error: nothing\\u001b there\n  This is a bug in rekap. Set REKAP_DEBUG=1';
    expect(printed(fault)).toContain(message);
    expect(printed(fault)).not.toContain('terminal.test');
    vi.stubEnv('REKAP_DEBUG', '1');
    expect(printed(fault)).toContain(message);
    expect(printed(fault)).toContain('terminal.test');
    expect(printed('a text')).toContain('rekap: unexpected error: a text\n');
  });
});
