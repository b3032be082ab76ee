/** Serves a folder of JSON files, and names a file or record that is malformed. */

import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openFolderSource } from '../../src/serve/record-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ask, makeRecords, pipelines, start } from './support.ts';

const voters = pipelines[0]!;
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'datapemilihdpr.json');
  await writeFile(join(folder, 'datahakpilihdpr.json'), '[]');
});

async function openVoters(text: string | Uint8Array) {
  await writeFile(file, text);
  return (await openFolderSource(folder, pipelines)).current(voters);
}

it('serves each file at its endpoint, over HTTP', async () => {
  for (const pipeline of pipelines) {
    const name = `${pipeline.path.split('/').at(-1)}.json`;
    await writeFile(join(folder, name), JSON.stringify(makeRecords(pipeline), null, 2));
  }
  const service = await start({ source: await openFolderSource(folder, pipelines) });
  for (const pipeline of pipelines) {
    const response = await ask(service, `${pipeline.path}?limit=1000`);
    expect(await response.json()).toEqual({ count: 31, data: makeRecords(pipeline) });
  }
});

it('keeps the order of the file, and lists a record without a partition only without the filter', async () => {
  const time = new Date('2026-01-02T03:04:05Z');
  await writeFile(file, '\uFEFF[\n {"IdDapil": "2", "n": -7},\n {"IdDapil": 1}, {"x": null}, {"IdDapil":"002"}\n]\n');
  await utimes(file, time, time);
  const set = (await openFolderSource(folder, pipelines)).current(voters);
  expect(set.records).toEqual(['{"IdDapil":"2","n":-7}', '{"IdDapil":1}', '{"x":null}', '{"IdDapil":"002"}']);
  expect([...set.byPartition]).toEqual([
    ['2', ['{"IdDapil":"2","n":-7}', '{"IdDapil":"002"}']],
    ['1', ['{"IdDapil":1}']],
  ]);
  expect(set.lastModified).toEqual(time);
});

it.each([
  ['[{"IdDapil":"1"},]', 'cannot be served'],
  [Buffer.from('[{"NamaKabupaten":"\xe9"}]', 'latin1'), 'UTF-8'],
  ['[{"JumlahSeluruhPemilih":12345678901234567890}]', 'JumlahSeluruhPemilih'],
  ['{"count":1,"data":[]}', 'not an array'],
  ['null', 'not an array'],
])('names the problem of the file %j', async (text, reason) => {
  const opening = openVoters(text);
  await expect(opening).rejects.toMatchObject({ code: 'served-data', message: expect.stringContaining(file) });
  await expect(opening).rejects.toThrow(reason);
});

it('names a missing file', async () => {
  const opening = openFolderSource(join(folder, 'nowhere'), pipelines);
  await expect(opening).rejects.toMatchObject({ code: 'served-data' });
  await expect(opening).rejects.toThrow(`${join(folder, 'nowhere', 'datapemilihdpr.json')} cannot be read`);
});

it.each(['null', '[]', ...['null', '"eleven"', '"-1"', '1.5', '"2147483648"'].map((value) => `{"IdDapil":${value}}`)])(
  'names the malformed record %s',
  async (record) => {
    const opening = openVoters(`[{"IdDapil":"1"},${record},{"IdDapil":"2"}]`);
    await expect(opening).rejects.toMatchObject({ code: 'served-data' });
    await expect(opening).rejects.toThrow(`Record 2 of ${file}`);
  },
);
