/** What rekap writes to a terminal: colours where they are wanted, tables, messages, and nothing that a source could smuggle in. */

import { once } from 'node:events';
import { styleText } from 'node:util';
import { invocation } from '../options/invocation.ts';
import { fitLines } from './wrap-text.ts';
import { isBucketUrl } from '../../share/address.ts';
import { isRekapError, messageOf, RekapError } from '../../errors.ts';
import { escapeDeceptive } from '../../runtime/text.ts';

type Style = Parameters<typeof styleText>[0];

/** Paints a text for a stream: only on a terminal, and not where NO_COLOR asks for none; FORCE_COLOR decides where it is set. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // What styleText would ask is asked here, of the right stream: it only ever asks stdout.
  return wantsColours(stream) ? styleText(style, text, { validateStream: false }) : text;
}

function wantsColours({ isTTY }: NodeJS.WriteStream): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted = '', TERM: terminal } = process.env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTTY && unwanted === '' && terminal !== 'dumb';
}

/** So many characters of one text from outside are printed at most, whatever a source sends. */
const longestPrinted = 2_000;

/**
 * A text from outside, safe to print: control characters, those that turn or hide writing, and halves of characters become
 * visible; of a very long one the beginning is shown.
 */
export function printable(text: string, longest = longestPrinted): string {
  const shown = text.length > longest ? `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…` : text;
  return shown.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return character === '\n' ? '⏎' : code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** The same for a message of several lines. */
function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
}

/** Writes to stdout and waits where its reader is slow. */
export async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Writes one JSON document to stdout, for a program that asked for it. */
export function printJson(value: unknown): void {
  invocation.hasPrintedJson = true;
  process.stdout.write(`${escapeDeceptive(JSON.stringify(value, null, 2))}\n`);
}

/** Prints a failure to stderr: what happened, then what to do next. A stack only for faults of rekap's own, and only on request. */
export function printError(error: unknown): void {
  if (invocation.hasReportedFailure) return;
  const time = invocation.isLog ? `${new Date().toISOString().slice(0, 19)}Z ` : '';
  const mark = `${time}${paint(['red', 'bold'], 'rekap:', process.stderr)}`;
  if (error instanceof RekapError) {
    const message = printableLines(error.message);
    const next = error.next === '' ? '' : `  ${printable(complete(error.next))}\n`;
    // A query's own lines stand as they are, for a mark below shows where it is wrong.
    const lines = `${mark} ${message}\n`;
    const shown = isRekapError(error, 'query') ? lines : fitLines(lines, process.stderr);
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

/** A warning as a person reads it on this stream. */
export function warningText(message: string, stream: NodeJS.WriteStream): string {
  return fitLines(`${paint('yellow', 'warning:', stream)} ${printable(message)}\n`, stream);
}

/** Tells on one line of stderr what went wrong in a command that goes on. */
export function printFailure(what: string, error: unknown): void {
  const message = messageOf(error);
  process.stderr.write(`${paint(['red', 'bold'], 'rekap:', process.stderr)} ${what}: ${printable(message)}\n`);
}

/** Prints a failure to stdout too, for a program that asked for JSON; where a document has said it already, none follows. */
export function printJsonError(error: unknown): void {
  if (invocation.hasPrintedJson) return;
  const isKnown = error instanceof RekapError;
  const message = messageOf(error);
  const described = {
    code: isKnown ? error.code : 'unexpected',
    message,
    next: isKnown ? complete(error.next) : '',
    exit_code: isKnown ? error.exitCode : 1,
  };
  printJson({ error: described });
}

/**
 * Advice with every command that goes over a warehouse completed, and the command at hand in the place of any.
 *
 * @param warehouse Null for the one that a command goes over without a word.
 */
export function complete(advice: string, warehouse = invocation.warehouse): string {
  const specific = advice.replaceAll('rekap <command>', `rekap ${invocation.command ?? '<command>'}`);
  // A bucket is read by a few commands only.
  if (warehouse === null || isBucketUrl(warehouse)) return specific;
  const named = quoteForShell(warehouse);
  const option = named.startsWith('-') ? `--warehouse=${named}` : `--warehouse ${named}`;
  return specific.replaceAll(
    /"(rekap (?:sync|replay|query|shell|export|dictionary|evidence|report|diff|status|doctor|runs|snapshots)\b[^"]*)"/g,
    (whole, command: string) => (/--(warehouse|help)/.test(command) ? whole : `"${command} ${option}"`),
  );
}

function quoteForShell(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
