/** The HTTP client of a source is closed after a failure, and limits the size of a response. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startFaultServer } from './support/fault-server.ts';
import { runSync } from './support/served-source.ts';
import { syncOptions } from './support/sync-settings.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

it('lets a program end if the client cannot be created', async () => {
  const warehouse = join(await temporaryFolder(), 'warehouse');
  const built = pathToFileURL(join(import.meta.dirname, '../dist/')).href;
  const program = `
    import { sync } from '${built}src/index.js';
    const warehouse = ${JSON.stringify(warehouse)};
    await sync({ baseUrl: 'http://127.0.0.1:9', warehouse, apiKey: 'k', concurrency: 0 }).catch((error) => console.log(error.name));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect({ said, code }).toEqual({ said: 'TypeError\n', code: 0 });
});

it('refuses a response of more than 64 MB, even if it is all spaces', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, ' ');
  const source = await startFaultServer((_, response) => {
    response.writeHead(200);
    for (let sent = 0; sent < 64; sent += 1) response.write(megabyte);
    response.end('{"count": 0, "data": []}');
  });
  onTestFinished(() => source.close());
  const refused = runSync(
    syncOptions(await temporaryFolder(), source.url, { partitions: ['1101'], datasets: ['voters'] }),
  );
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('is larger than 64 MB') });
});
