/** A folder of JSON files as a source: what is served of it, and what is said of a file that is not in shape. */

import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { openFolderSource } from '../../src/serve/record-source.ts';
import { ask, makeRecords, pipelines, start } from './support.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rekap-serve-'));
  await writeFile(join(folder, 'datahakpilihdpr.json'), '[]');
});
afterEach(() => rm(folder, { recursive: true }));

const voters = pipelines.find(({ table }) => table === 'voters')!;

async function openVoters(text: string | Uint8Array) {
  await writeFile(join(folder, 'datapemilihdpr.json'), text);
  return (await openFolderSource(folder, pipelines)).current(voters);
}

async function failureOf(opening: Promise<unknown>): Promise<RekapError> {
  const failure: unknown = await opening.catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'served-data' });
  expect((failure as RekapError).next).not.toBe('');
  return failure as RekapError;
}

it('serves each file at its endpoint, over HTTP', async () => {
  for (const pipeline of pipelines) {
    const file = join(folder, `${pipeline.endpoint.split('/').at(-1)}.json`);
    await writeFile(file, JSON.stringify(makeRecords(pipeline), null, 2));
  }
  const service = await start({ source: await openFolderSource(folder, pipelines) });
  try {
    for (const pipeline of pipelines) {
      const response = await ask(service, `${pipeline.endpoint}?limit=1000`);
      expect(await response.json()).toEqual({ count: 31, data: makeRecords(pipeline) });
    }
  } finally {
    await service.close();
  }
});

it('keeps the order of the file, and every record as it is written', async () => {
  const set = await openVoters(
    '\uFEFF[\n {"IdDapil": "2", "n": 12345678901234567890},\n {"IdDapil": 1}, {"x": 1.0}, {"IdDapil":"002","x":1,"x":2}\n]\n',
  );
  expect(set.records).toEqual([
    '{"IdDapil":"2","n":12345678901234567890}',
    '{"IdDapil":1}',
    '{"x":1.0}',
    '{"IdDapil":"002","x":1,"x":2}',
  ]);
  expect([...set.byDistrict]).toEqual([
    [2, ['{"IdDapil":"2","n":12345678901234567890}', '{"IdDapil":"002","x":1,"x":2}']],
    [1, ['{"IdDapil":1}']],
  ]);
});

it('serves a record without a district in the list of all only', async () => {
  const set = await openVoters('[{"NamaDapil":"Aceh I"}]');
  expect(set.records).toHaveLength(1);
  expect(set.byDistrict.size).toBe(0);
});

it('takes Last-Modified from the file', async () => {
  const time = new Date('2026-01-02T03:04:05Z');
  await openVoters('[]');
  await utimes(join(folder, 'datapemilihdpr.json'), time, time);
  const set = (await openFolderSource(folder, pipelines)).current(voters);
  expect(set.lastModified).toEqual(time);
});

it('says which folder is missing, or is none', async () => {
  const missing = join(folder, 'nowhere');
  expect((await failureOf(openFolderSource(missing, pipelines))).message).toContain(missing);
  const file = join(folder, 'datahakpilihdpr.json');
  const failure = await failureOf(openFolderSource(file, pipelines));
  expect(failure.message).toContain(file);
  expect(failure.next).toContain('datapemilihdpr.json and datahakpilihdpr.json');
});

it('says which file is missing or cannot be read', async () => {
  const file = join(folder, 'datapemilihdpr.json');
  expect((await failureOf(openFolderSource(folder, pipelines))).message).toBe(
    `${file} cannot be read: no such file or directory (ENOENT).`,
  );
  await mkdir(file);
  expect((await failureOf(openFolderSource(folder, pipelines))).message).toBe(
    `${file} cannot be read: illegal operation on a directory (EISDIR).`,
  );
});

it.each([
  ['', 'is not JSON'],
  ['[{"IdDapil":"1"}', 'is not JSON'],
  ['[{"IdDapil":"1"},]', 'is not JSON'],
  [Buffer.from('[{"NamaKabupaten":"\xe9"}]', 'latin1'), 'is not JSON: it is not UTF-8 text'],
  ['{"count":1,"data":[]}', 'is JSON, but not an array'],
  ['null', 'is JSON, but not an array'],
])('says what is wrong with the file %j', async (text, message) => {
  const failure = await failureOf(openVoters(text));
  expect(failure.message).toContain(join(folder, 'datapemilihdpr.json'));
  expect(failure.message).toContain(message);
});

it.each([
  'null',
  '1',
  '"text"',
  '[]',
  '{"IdDapil":null}',
  '{"IdDapil":""}',
  '{"IdDapil":"eleven"}',
  '{"IdDapil":"-1"}',
  '{"IdDapil":1.5}',
  '{"IdDapil":"1.5"}',
  '{"IdDapil":["1"]}',
  '{"IdDapil":"2147483648"}',
  '{"IdDapil":1e21}',
])('names the record that is %s', async (record) => {
  const failure = await failureOf(openVoters(`[{"IdDapil":"1"},${record},{"IdDapil":"2"}]`));
  expect(failure.message).toContain(`Record 2 of ${join(folder, 'datapemilihdpr.json')}`);
});

it('says what is wrong with a district', async () => {
  const failure = await failureOf(openVoters('[{"IdDapil":"eleven"}]'));
  expect(failure.message).toBe(
    `Record 1 of ${join(folder, 'datapemilihdpr.json')}: its IdDapil is no district; it must be digits, at most 2147483647.`,
  );
});
