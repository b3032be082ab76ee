/** `rekap lake` without a catalog, or without DuckDB's extensions: what it refuses, and that it changes nothing. */

import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readCurrentId } from '../../src/warehouse/warehouse.ts';
import { startFakeCatalog } from '../support/fake-catalog.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { readRunLines } from '../support/run-lines.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = publishedNation();

describe('rekap lake publish', () => {
  it('names the folder and the command if an extension is missing, and changes neither catalog nor warehouse', async () => {
    const { warehouse, known } = await prepared();
    const catalog = await startFakeCatalog([]);
    const extensions = await temporaryFolder();
    const words = ['lake', 'publish', '--warehouse', warehouse, '--catalog', catalog.url, '--extensions', extensions];
    const { code, stderr } = await runHere(words);
    expect(code).toBe(2);
    expect(stderr).toContain(extensions);
    expect(stderr).toMatch(/pip install --target \S+ duckdb-extension-avro==\d/);
    expect(catalog.writes).toBe(0);
    expect(await readCurrentId(warehouse)).toBe(known[0]);
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({ kind: 'lake', outcome: 'failed', exit_code: 2 });
    const status = await runHere(['status', '--max-age', '365d', '--warehouse', warehouse]);
    expect(status).toMatchObject({ code: 7, stdout: expect.stringContaining('publication to the catalog failed') });
  });

  it('sends the token of the environment, and prints it nowhere', async () => {
    const token = 'canary-token-9157';
    const catalog = await startFakeCatalog([], { token });
    const status = (environment: Record<string, string>) =>
      runHere(['lake', 'status', '--catalog', catalog.url], environment);
    expect(await status({ REKAP_CATALOG_TOKEN: token })).toMatchObject({ code: 0, stderr: '' });
    const refused = await status({ REKAP_CATALOG_TOKEN: `${token}-old` });
    expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining('401') });
    expect(refused.stderr).not.toContain(token);
  });

  it('gets tokens with the client credentials of OAuth 2', async () => {
    const catalog = await startFakeCatalog([], { token: 'issued', client: { id: 'desk', secret: 'canary-secret' } });
    const status = (credential: string) =>
      runHere(['lake', 'status', '--catalog', catalog.url], { REKAP_CATALOG_CREDENTIAL: credential });
    expect(await status('desk:canary-secret')).toMatchObject({ code: 0, stderr: '' });
    const refused = await status('desk:wrong-secret');
    expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining('returned no token') });
    expect(refused.stderr).not.toContain('wrong-secret');
  });

  it.each([
    ['without --catalog', [], '--catalog is missing'],
    ['with a URL that has a password', ['--catalog', 'https://me:canary@host'], '--catalog is not a valid URL'],
    ['with a namespace that SQL must quote', ['--catalog', 'https://host', '--namespace', 'A b'], '--namespace "A b"'],
  ])('is refused %s', async (_, words, message) => {
    const { code, stderr } = await runHere(['lake', 'status', ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('canary');
  });
});

it('a sync with --lake checks the options before it sends a request', async () => {
  const warehouse = await temporaryFolder();
  const { code, stderr } = await runHere(['sync', '--sample', '--lake', '--warehouse', warehouse]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--catalog is missing') });
  expect(await readdir(warehouse)).toEqual([]);
});
