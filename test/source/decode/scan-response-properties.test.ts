/** For any bytes, the scanner terminates, and finds what JSON.parse finds or throws a ScanError. */

import fc from 'fast-check';
import { createContext, Script } from 'node:vm';
import { expect } from 'vitest';
import { ScanError } from '../../../src/source/decode/json-text.ts';
import { createScanner, type ScannedResponse } from '../../../src/source/decode/scan-response.ts';
import { shapeOf } from '../../../src/source/decode/document-shape.ts';
import { FieldKind } from '../../../src/stages.ts';
import { voters } from '../../support/bundled.ts';
import { holds } from '../../support/properties.ts';

/** Not all of them ASCII: the source chooses the names of fields. */
const fields = ['IdDapil', 'Nama', 'Jumlah', 'Größe', '😀', '__proto__', 'a"b\\'];

/** Records under "data", and their number under "count". */
const shape = shapeOf(voters);

/** An answer's text, and where its records are in the parsed envelope. */
interface WrittenAnswer {
  readonly text: string;
  items(envelope: { data?: unknown }): unknown[];
}

/** The choices of a writer, read in a loop, so that they shrink well. */
type Tape = readonly number[];

const tape: fc.Arbitrary<Tape> = fc.array(fc.nat(31), { minLength: 1, maxLength: 40 });
const anyValue = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[0-9]{1,9}$/),
  fc.jsonValue({ stringUnit: 'binary' }),
);
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...fields) },
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const record = fc
  .uniqueArray(fc.tuple(name, anyValue), { selector: ([field]) => field, maxLength: 8 })
  .map((members) => new Map(members));
/** The first field isn't an object, and another one is declared: this tells one record from an object of records. */
const oneRecord = fc
  .tuple(fc.string(), record)
  .map(([text, members]) => new Map<string, unknown>([['Kode', text], ['Nama', text], ...members]));
const item = fc.oneof({ weight: 5, arbitrary: record }, fc.jsonValue());

/** Maps are written as objects in their own order, which a JavaScript object doesn't keep for names such as "1". */
type Written = { readonly data: unknown; items(envelope: { data?: unknown }): unknown[] };

const written: fc.Arbitrary<Written> = fc.oneof(
  fc
    .array(item, { maxLength: 12 })
    .map((data) => ({ data, items: ({ data: found }: { data?: unknown }) => found as unknown[] })),
  oneRecord.map((data) => ({ data, items: ({ data: found }: { data?: unknown }) => [found] })),
  fc.array(record, { minLength: 1, maxLength: 4 }).map((records) => ({
    data: new Map(records.map((members, place) => [`r${place}`, members])),
    items: ({ data: found }: { data?: unknown }) => Object.values(found as object),
  })),
  fc.constantFrom(null, new Map()).map((data) => ({ data, items: () => [] })),
);

const answers: fc.Arbitrary<WrittenAnswer> = fc
  .tuple(
    written,
    tape,
    fc.boolean(),
    fc.array(fc.tuple(fc.constantFrom('took', 'page', 'Data'), fc.jsonValue()), { maxLength: 2 }),
  )
  .map(([{ data, items }, choices, mark, others]) => {
    const count = data === null ? 0 : data instanceof Map ? data.size : (data as unknown[]).length;
    const members = new Map<string, unknown>([...others, ['count', count], ['data', data]]);
    const order = choices[0]! % 2 === 0 ? [...members] : [...members].toReversed();
    return { text: (mark ? '\uFEFF' : '') + write(new Map(order), choices), items };
  });

/** Bytes with a meaning in JSON are far more frequent than others. */
const byte = fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\ \t0-+.eEu1ntf')), fc.nat(255));

/** A response after up to three small changes: a byte replaced, inserted or removed, or bytes repeated or cut off. */
const mutated: fc.Arbitrary<Buffer> = fc
  .tuple(
    answers,
    fc.array(fc.tuple(fc.constantFrom('replace', 'insert', 'remove', 'repeat', 'cut'), fc.nat(), byte), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([{ text }, changes]) => {
    let bytes = Buffer.from(text);
    for (const [kind, place, by] of changes) {
      const at = place % (bytes.length + 1);
      const upTo = bytes.subarray(0, at);
      if (kind === 'replace') bytes = Buffer.concat([upTo, Buffer.of(by), bytes.subarray(at + 1)]);
      else if (kind === 'insert') bytes = Buffer.concat([upTo, Buffer.of(by), bytes.subarray(at)]);
      else if (kind === 'remove') bytes = Buffer.concat([upTo, bytes.subarray(at + 1)]);
      else if (kind === 'repeat') bytes = Buffer.concat([bytes.subarray(0, at + (by % 16)), bytes.subarray(at)]);
      else bytes = Buffer.from(upTo);
    }
    return bytes;
  });

/** Parts of an envelope in any order: mostly not JSON, sometimes an unusual envelope. */
const pieces = [
  ...'{"count": {"count":1,"data": "data": {"IdDapil":"1"} "IdDapil": "Nama" "a\\"b\\\\": "count" null true \\u00'.split(
    ' ',
  ),
  ...Array.from('{}[],:"\\ 01-.e\0\ufeffé'),
];
const patchwork = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => Buffer.from(parts.join('')));
const anyBytes = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const bodies = fc
  .oneof({ weight: 4, arbitrary: mutated }, patchwork, anyBytes)
  // A failure prints a readable body.
  .map((body) => Object.assign(body, { [fc.toStringMethod]: () => JSON.stringify(body.toString('latin1')) }));

holds(
  'finds the records and values that JSON.parse finds',
  fc.property(fc.array(answers, { minLength: 1, maxLength: 3 }), (batch) => {
    const scanner = createScanner(fields, shape);
    for (const { text, items } of batch) {
      const parsed = items(JSON.parse(text.replace(/^\uFEFF/, '')) as { data?: unknown });
      expect(recordsIn(Buffer.from(text), scanner(Buffer.from(text)))).toEqual(parsed.map(declaredPart));
    }
  }),
  { runs: 150 },
);

holds(
  'reads any bytes as JSON.parse does, or refuses them by the rules of the envelope',
  fc.property(bodies, (body) => {
    const found = scanOrRefuse(body);
    const expected = readEnvelope(body);
    if (expected !== 'unknown') expect(found).toEqual(expected);
  }),
  { runs: 600 },
);

holds(
  'reports that a truncated response ends early, so that it is retried',
  fc.property(answers, fc.nat(), ({ text }, place) => {
    const whole = Buffer.from(text.trimEnd());
    const part = whole.subarray(0, place % whole.length);
    let error: unknown = null;
    try {
      createScanner(fields, shape)(part);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ScanError);
    expect((error as ScanError).offset).toBeGreaterThanOrEqual(part.length);
  }),
  { runs: 300 },
);

/** The declared fields of each record, decoded from the scanner's bounds; null if a record isn't an object. */
function recordsIn(bytes: Buffer, { records }: ScannedResponse): unknown[] {
  return Array.from({ length: records.length }, (_, row) => {
    const whole: unknown = JSON.parse(bytes.toString('utf8', records.recordStart[row], records.recordEnd[row]));
    const values = fields.map((_field, column) => {
      const slot = row * fields.length + column;
      const text = bytes.toString('utf8', records.fieldStart[slot], records.fieldEnd[slot]);
      const kind = records.fieldKind[slot];
      if (kind === FieldKind.text) return { kind, value: text };
      if (kind === FieldKind.escaped) return { kind: FieldKind.text, value: JSON.parse(`"${text}"`) as unknown };
      // A repeated field spans both of its values and everything between them.
      const { '': value, ...between } =
        kind === FieldKind.missing ? {} : (JSON.parse(`{"":${text}}`) as Record<string, unknown>);
      return kind === FieldKind.missing ? { kind } : { kind, value, ...between };
    });
    return { whole, values: records.isObject[row] === 1 ? values : null };
  });
}

/** The same, from a parsed item. */
function declaredPart(whole: unknown): unknown {
  if (!isObject(whole)) return { whole, values: null };
  const values = fields.map((field) => {
    if (!Object.hasOwn(whole, field)) return { kind: FieldKind.missing };
    const found = whole[field];
    // Half a surrogate pair is no text.
    if (typeof found === 'string' && found.isWellFormed()) return { kind: FieldKind.text, value: found };
    if (typeof found === 'number') return { kind: FieldKind.number, value: found };
    return { kind: found === null ? FieldKind.null : FieldKind.other, value: found };
  });
  return { whole, values };
}

const sandbox = createContext({ run: null });
const runInSandbox = new Script('run()');

/** What the scanner finds, or 'refused' if it throws a ScanError. An endless scan is stopped, so that its input is reported. */
function scanOrRefuse(body: Buffer): unknown {
  sandbox['run'] = () => createScanner(fields, shape)(body);
  try {
    return recordsIn(body, runInSandbox.runInContext(sandbox, { timeout: 5000 }) as ScannedResponse);
  } catch (error) {
    if (error instanceof ScanError) return 'refused';
    throw error;
  }
}

/**
 * The same by the rules of the envelope, from the parsed body. 'unknown' if JSON.parse loses what the body says: it keeps
 * the last of two members with one name, and moves names that are numbers to the front.
 */
function readEnvelope(body: Buffer): unknown {
  let parsed: unknown;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    parsed = JSON.parse(text);
  } catch {
    return 'refused';
  }
  if ((text.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0) !== countMembers(parsed)) return 'unknown';
  if (!isObject(parsed)) return 'refused';
  const { count: reported, data = null } = parsed;
  const count = typeof reported === 'string' && /^\d+$/.test(reported) ? Number(reported) : reported;
  if (data === '' && count === 0) return [];
  // Only a list with records may omit its count.
  const isUncounted = reported === undefined && Array.isArray(data) && data.length > 0;
  const isCount = isUncounted || (Number.isSafeInteger(count) && (count as number) >= 0);
  if (!isCount || typeof data !== 'object') return 'refused';
  const items = itemsOf(data);
  if (items === 'unknown') return 'unknown';
  // One object without any field of a record isn't a record: it can be a message beside a count of 0.
  if (isObject(data) && items[0] === data && fields.every((field) => !Object.hasOwn(data, field)))
    return count === 0 ? [] : 'refused';
  return items.length === 0 && count !== 0 && !Array.isArray(data) ? 'refused' : items.map(declaredPart);
}

function itemsOf(data: object | null): unknown[] | 'unknown' {
  if (data === null) return [];
  if (Array.isArray(data)) return data;
  const members = Object.entries(data);
  if (members.some(([key]) => /^\d+$/.test(key))) return 'unknown';
  return members.length > 0 && !isObject(members[0]![1]) ? [data] : members.map(([, member]) => member);
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, member) => sum + countMembers(member), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function write(root: unknown, choices: Tape): string {
  let at = 0;
  const next = (): number => choices[at++ % choices.length]!;
  const space = (): string => ['', '', '', ' ', '\n', '\t', ' \r\n '][next() % 7]!;
  const quote = (text: string): string => {
    if (next() % 3 > 0) return JSON.stringify(text);
    const units = Array.from({ length: text.length }, (_, unit) => text.charCodeAt(unit).toString(16).padStart(4, '0'));
    return `"${units.map((unit) => String.raw`\u${unit}`).join('')}"`;
  };
  const list = (open: string, parts: string[], close: string): string =>
    `${open}${space()}${parts.join(`${space()},${space()}`)}${space()}${close}`;
  const spell = (part: unknown, outermost = false): string => {
    if (typeof part === 'string') return quote(part);
    if (Array.isArray(part))
      return list(
        '[',
        part.map((member) => spell(member)),
        ']',
      );
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    const members = part instanceof Map ? [...part] : Object.entries(part);
    return list(
      '{',
      // The envelope's own names are always written plainly.
      members.map(
        ([field, member]) => `${outermost ? JSON.stringify(field) : quote(field)}${space()}:${space()}${spell(member)}`,
      ),
      '}',
    );
  };
  return space() + spell(root, true) + space();
}
