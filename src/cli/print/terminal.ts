/** Prints messages, warnings and JSON, and escapes texts from outside. */

import { once } from 'node:events';
import { styleText } from 'node:util';
import { invocation } from '../options/invocation.ts';
import { fitLines } from './wrap-text.ts';
import { isBucketUrl } from '../../share/address.ts';
import { ExitCode, isRekapError, messageOf, RekapError } from '../../errors.ts';
import { escapeDeceptive } from '../../runtime/text.ts';

type Style = Parameters<typeof styleText>[0];

/** Styles a text if the stream is a terminal and NO_COLOR isn't set. FORCE_COLOR takes precedence. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return usesColours(stream) ? styleText(style, text, { validateStream: false }) : text;
}

function usesColours({ isTTY }: NodeJS.WriteStream): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted = '', TERM: terminal } = process.env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTTY && unwanted === '' && terminal !== 'dumb';
}

const maxPrintedLength = 2_000;

/** Makes a text from outside safe to print: escapes control and format characters and lone surrogates, and cuts long texts. */
export function printable(text: string, maxLength = maxPrintedLength): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…` : text;
  return shown.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return character === '\n' ? '⏎' : code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
}

/** Writes to stdout, and waits for a slow reader. */
export async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

export function printJson(value: unknown): void {
  invocation.hasPrintedJson = true;
  process.stdout.write(`${escapeDeceptive(JSON.stringify(value, null, 2))}\n`);
}

/** Prints a failure to stderr: what happened, and what to do. REKAP_DEBUG adds the stack trace of an unexpected error. */
export function printError(error: unknown): void {
  if (invocation.hasReportedFailure) return;
  const time = invocation.isLog ? `${new Date().toISOString().slice(0, 19)}Z ` : '';
  const mark = `${time}${paint(['red', 'bold'], 'rekap:', process.stderr)}`;
  if (error instanceof RekapError) {
    const message = printableLines(error.message);
    const next = error.next === '' ? '' : `  ${printable(complete(error.next))}\n`;
    // Wrapping would move the caret that marks the error in a query.
    const lines = `${mark} ${message}\n`;
    const shown = isRekapError(error, 'query', 'pipeline-definition') ? lines : fitLines(lines, process.stderr);
    process.stderr.write(shown + fitLines(next, process.stderr));
    return;
  }
  const message = messageOf(error);
  process.stderr.write(
    `${mark} unexpected error: ${printableLines(message)}\n  This is a bug in rekap. Set REKAP_DEBUG=1 to see the stack trace.\n`,
  );
  if (process.env['REKAP_DEBUG'] !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
}

export function warningText(message: string, stream: NodeJS.WriteStream): string {
  return fitLines(`${paint('yellow', 'warning:', stream)} ${printable(message)}\n`, stream);
}

/** Prints a warning to stderr. */
export function printWarning(message: string): void {
  process.stderr.write(warningText(message, process.stderr));
}

/** Prints a line to stderr, so that stdout contains only data. */
export function printNotice(line: string | null): void {
  if (line !== null) process.stderr.write(`${line}\n`);
}

/** Prints a failure that doesn't end the command. */
export function printFailure(what: string, error: unknown): void {
  const message = messageOf(error);
  process.stderr.write(`${paint(['red', 'bold'], 'rekap:', process.stderr)} ${what}: ${printable(message)}\n`);
}

/** Prints a failure to stdout as JSON, unless a document was already printed. */
export function printJsonError(error: unknown): void {
  if (invocation.hasPrintedJson) return;
  const unexpected = { code: 'unexpected', exitCode: ExitCode.unexpected, next: '' };
  const { code, exitCode, next } = error instanceof RekapError ? error : unexpected;
  printJson({ error: { code, message: messageOf(error), next: complete(next), exit_code: exitCode } });
}

/** Adds --warehouse to the quoted commands in an advice, unless `warehouse` is the default (null), and fills in `<command>`. */
export function complete(advice: string, warehouse = invocation.warehouse): string {
  const specific = advice.replaceAll('rekap <command>', `rekap ${invocation.command ?? '<command>'}`);
  // Only a few commands accept a bucket.
  if (warehouse === null || isBucketUrl(warehouse)) return specific;
  const named = quoteForShell(warehouse);
  const option = named.startsWith('-') ? `--warehouse=${named}` : `--warehouse ${named}`;
  return specific.replaceAll(
    /"(rekap (?:sync|replay|query|export|evidence|report|diff|status|doctor|runs|snapshots)\b[^"]*)"/g,
    (whole, command: string) => (/--(warehouse|help)/.test(command) ? whole : `"${command} ${option}"`),
  );
}

export function quoteForShell(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
