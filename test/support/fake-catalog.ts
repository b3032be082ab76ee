/** An Iceberg REST catalog in memory that knows only snapshots and references, and loses requests and responses when it is told to. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { parseExactly, writeExactly } from '../../src/share/lake/exchange.ts';
import type { SnapshotId, TableChange } from '../../src/share/lake/iceberg.ts';

type Fault =
  | 'lose request'
  | 'lose response'
  | 'answer 503'
  | 'apply and answer 503'
  /** The first request is lost, but applied just before the second one arrives. */
  | 'apply late'
  /** Answers as if it were done, like a proxy or a damaged catalog. */
  | 'answer 200 without applying'
  | 'apply, but fail to load the table once'
  | 'lose response and disappear';

interface FakeTable {
  readonly snapshots: SnapshotId[];
  readonly refs: Record<string, SnapshotId>;
  readonly columns: string[];
}

export interface FakeCatalog {
  readonly url: string;
  readonly tables: ReadonlyMap<string, FakeTable>;
  /** Each fault concerns one commit. */
  readonly faults: Fault[];
  /** Number of commits that were applied. */
  readonly commits: number;
  /** Number of requests that could change something. */
  readonly writes: number;
  /** Calls this after each commit. */
  whenApplied(act: () => void): void;
}

interface FakeSettings {
  readonly endpoints?: readonly string[];
  readonly token?: string;
  /** The client that gets the token. */
  readonly client?: { readonly id: string; readonly secret: string };
  readonly current?: Readonly<Record<string, SnapshotId>>;
}

export async function startFakeCatalog(
  names: readonly string[],
  { endpoints, token, client, current = {} }: FakeSettings = {},
): Promise<FakeCatalog> {
  const tables = new Map(
    names.map((name): [string, FakeTable] => {
      const main = current[name];
      const filled = main === undefined ? { snapshots: [], refs: {} } : { snapshots: [main], refs: { main } };
      return [name, { ...filled, columns: [] }];
    }),
  );
  const faults: Fault[] = [];
  const none = { late: null as readonly TableChange[] | null, afterwards: () => {} };
  const state = { ...none, commits: 0, writes: 0, failingLoads: 0 };

  const apply = (changes: readonly TableChange[]): boolean => {
    const isMet = changes.every(({ identifier, requirements }) => {
      const { refs, columns } = tables.get(identifier.name)!;
      return requirements.every((required) => {
        if (required['type'] === 'assert-current-schema-id') return required['current-schema-id'] === columns.length;
        const isRef = required['type'] === 'assert-ref-snapshot-id';
        return !isRef || (refs[required['ref'] as string] ?? null) === required['snapshot-id'];
      });
    });
    if (!isMet) return false;
    for (const { identifier, updates } of changes)
      for (const update of updates) {
        const { snapshots, refs, columns } = tables.get(identifier.name)!;
        if (update.action === 'add-schema')
          columns.splice(0, Infinity, ...update.schema.fields.map(({ name }) => name));
        if (update.action === 'add-snapshot') snapshots.push(update.snapshot['snapshot-id']);
        if (update.action === 'set-snapshot-ref') refs[update['ref-name']] = update['snapshot-id'];
        if (update.action === 'remove-snapshot-ref') delete refs[update['ref-name']];
      }
    state.commits += 1;
    state.afterwards();
    return true;
  };
  const commit = (changes: readonly TableChange[], response: ServerResponse): void => {
    const fault = faults.shift();
    if (state.late !== null) apply(state.late);
    state.late = fault === 'apply late' ? changes : null;
    if (fault === 'lose request' || fault === 'apply late') return void response.destroy();
    if (fault === 'answer 503') return answer(response, 503, {});
    if (fault === 'answer 200 without applying') return answer(response, 200, {});
    const isApplied = apply(changes);
    if (fault === 'lose response') return void response.destroy();
    if (fault === 'apply and answer 503') return answer(response, 503, {});
    if (fault === 'apply, but fail to load the table once') state.failingLoads = 1;
    if (fault === undefined || state.failingLoads > 0) return answer(response, isApplied ? 204 : 409, {});
    response.destroy();
    server.close();
    server.closeAllConnections();
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url!.endsWith('/oauth/tokens')) {
        const given = new URLSearchParams(body);
        const isKnown = given.get('client_id') === client?.id && given.get('client_secret') === client?.secret;
        return answer(response, isKnown ? 200 : 401, isKnown ? { access_token: token } : {});
      }
      if (request.method !== 'GET') state.writes += 1;
      if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
        return answer(response, 401, { error: { message: `unknown: ${request.headers.authorization}` } });
      const [, , place, , , name = ''] = request.url!.split('/');
      if (place === 'config') return answer(response, 200, { defaults: {}, overrides: {}, endpoints });
      if (place === 'transactions')
        return commit((parseExactly(body) as { 'table-changes': TableChange[] })['table-changes'], response);
      if (request.method === 'GET' && name === '')
        return answer(response, 200, { identifiers: [...tables.keys()].map((table) => ({ name: table })) });
      const table = tables.get(name);
      if (table === undefined) return answer(response, 404, {});
      if (state.failingLoads > 0) {
        state.failingLoads -= 1;
        return answer(response, 503, {});
      }
      const refs = Object.entries(table.refs).map(([ref, id]) => [ref, { 'snapshot-id': id, type: 'branch' }]);
      const snapshots = table.snapshots.map((id) => ({ 'snapshot-id': id }));
      const schema = table.columns.length;
      const schemas = [{ 'schema-id': schema, fields: table.columns.map((column) => ({ name: column })) }];
      const metadata = { 'table-uuid': name, snapshots, refs: Object.fromEntries(refs), schemas };
      answer(response, 200, { metadata: { ...metadata, 'current-schema-id': schema } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tables,
    faults,
    get commits() {
      return state.commits;
    },
    whenApplied(act) {
      state.afterwards = act;
    },
    get writes() {
      return state.writes;
    },
  };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(status === 204 ? undefined : writeExactly(body));
}
