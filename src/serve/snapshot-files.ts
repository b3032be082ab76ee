/** Says which files of a snapshot are served, to whom, and with which headers. */

import { fastifyStatic } from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { databaseFile, parquetPath, reportFile } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { CsvFiles } from './csv-files.ts';
import { readOnly } from './page.ts';
import { Problem } from './problem.ts';

export interface FilesContext {
  /** @throws Problem 404 if the records don't come from a snapshot. */
  readonly requireSnapshot: () => Snapshot;
  /** @throws Problem 401 if files need a key, and the request has none. */
  readonly requireFile: (request: FastifyRequest) => void;
}

export const noSnapshot = new Problem(
  404,
  'This service has records, but no snapshot. Run "rekap sync --sample" and "rekap serve --warehouse data/warehouse".',
);

/** Allows a report's own script, but sandboxed, because an untrusted report must not reach other pages or the network. */
const reportPolicy = `sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export async function addSnapshotFiles(app: FastifyInstance, { requireSnapshot, requireFile }: FilesContext) {
  const csvFiles = new CsvFiles();
  app.addHook('onClose', () => csvFiles.close());
  await app.register(fastifyStatic, { root: '/', serve: false });
  app.route({
    ...readOnly,
    url: '/report',
    handler: (_request, reply) =>
      reply.header('content-security-policy', reportPolicy).sendFile(reportFile, requireSnapshot().folder),
  });
  app.route<{ Params: { file: string } }>({
    ...readOnly,
    url: '/current/:file',
    onRequest: async (request) => requireFile(request),
    async handler({ params: { file } }, reply) {
      const snapshot = requireSnapshot();
      reply.header('cache-control', 'private, no-cache');
      if (file === databaseFile) return reply.sendFile(file, snapshot.folder, { cacheControl: false });
      const [, name = '', ending] = /^(\w+)\.(parquet|csv)$/.exec(file) ?? [];
      const table = snapshot.manifest.files.find(({ path }) => path === parquetPath(name));
      const shown = JSON.stringify(file.slice(0, 80));
      if (table === undefined) throw new Problem(404, `The snapshot has no file ${shown}. The page / lists all files.`);
      reply.header('content-disposition', `attachment; filename="${file}"`);
      if (ending === 'parquet') return reply.sendFile(table.path, snapshot.folder, { cacheControl: false });
      // A part of a compressed file would be useless.
      return reply.sendFile(file, await csvFiles.write(snapshot, name), { cacheControl: false, acceptRanges: false });
    },
  });
}
