/** Talks to an Iceberg REST catalog: loads and creates tables, and commits changes of several tables at once. */

import type { Tokens } from '../../source/oauth.ts';
import { isRekapError, messageOf, RekapError } from '../../errors.ts';
import type { Clock } from '../../runtime/context.ts';
import type { Secret } from '../../source/secret.ts';
import { type CatalogResponse, exchange, parseExactly, writeExactly } from './exchange.ts';
import { isSame, type NewTable, type SnapshotId, type TableChange, type TableMetadata } from './iceberg.ts';

/** Where the catalog is, and how to sign in. */
export interface CatalogSettings {
  /** Base URL, without the `/v1` of its endpoints. */
  readonly url: string;
  /** Name of the catalog's warehouse; null if it has only one. */
  readonly warehouse: string | null;
  readonly namespace: string;
  /** Returns the bearer token, or a new one after a 401; null without signing in. */
  readonly token: Tokens | null;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Milliseconds for a response. A catalog writes a metadata file per table of a commit. */
const timeout = 60_000;
const maxAttempts = 5;
const commitEndpoint = 'POST /v1/{prefix}/transactions/commit';

export class Catalog {
  readonly settings: CatalogSettings;
  private prefix = '';

  private constructor(settings: CatalogSettings) {
    this.settings = settings;
  }

  /** @throws `lake` if the catalog can't be reached, refuses the sign-in, or can't commit several tables at once. */
  static async connect(settings: CatalogSettings): Promise<Catalog> {
    const catalog = new Catalog(settings);
    const query = settings.warehouse === null ? '' : `?warehouse=${encodeURIComponent(settings.warehouse)}`;
    const found = await catalog.send('GET', `/v1/config${query}`);
    const config = catalog.parse(catalog.requireDone(found, 'read its configuration')) as {
      readonly defaults?: Readonly<Record<string, string>>;
      readonly overrides?: Readonly<Record<string, string>>;
      readonly endpoints?: readonly string[];
    };
    const prefix = config.overrides?.['prefix'] ?? config.defaults?.['prefix'];
    if (prefix !== undefined) catalog.prefix = `${prefix}/`;
    // Older catalogs list no endpoints.
    if (config.endpoints !== undefined && !config.endpoints.includes(commitEndpoint)) {
      const next =
        'Readers could see tables of different snapshots. Use a catalog that can: docs/how-to/lakehouse.md lists some.';
      throw new RekapError('lake', `The catalog ${settings.url} cannot commit several tables at once.`, next);
    }
    return catalog;
  }

  /** Returns the metadata of a table, or null if it doesn't exist. */
  async loadTable(name: string): Promise<TableMetadata | null> {
    const response = await this.send('GET', this.pathOf(name));
    if (response.status === 404) return null;
    return (this.parse(this.requireDone(response, `load the table ${name}`)) as { metadata: TableMetadata }).metadata;
  }

  async createNamespace(): Promise<void> {
    const { namespace } = this.settings;
    const response = await this.send('POST', this.path('namespaces'), writeExactly({ namespace: [namespace] }));
    // 409: it exists.
    if (response.status !== 409) this.requireDone(response, `create the namespace ${namespace}`);
  }

  /** Creates an empty table. Another publisher may have created it in the meantime. */
  async createTable(table: NewTable): Promise<void> {
    // Nessie requires the flag.
    const response = await this.send('POST', this.pathOf(''), writeExactly({ 'stage-create': false, ...table }));
    if (response.status !== 409) this.requireDone(response, `create the table ${table.name}`);
  }

  /** Returns the names of all tables of the namespace; none if it doesn't exist. */
  async listTables(): Promise<string[]> {
    const names: string[] = [];
    let page = '';
    do {
      const response = await this.send('GET', `${this.pathOf('')}${page}`);
      if (response.status === 404) return [];
      const list = this.parse(this.requireDone(response, 'list the tables')) as {
        readonly identifiers: readonly { readonly name: string }[];
        readonly 'next-page-token'?: string | null;
      };
      names.push(...list.identifiers.map(({ name }) => name));
      const next = list['next-page-token'] ?? '';
      page = next === '' ? '' : `?pageToken=${encodeURIComponent(next)}`;
    } while (page !== '');
    return names.toSorted();
  }

  change(name: string, parts: Pick<TableChange, 'requirements' | 'updates'>): TableChange {
    return { identifier: { namespace: [this.settings.namespace], name }, ...parts };
  }

  /** Commits changes that can be made again at any time, such as new columns. @throws `lake-conflict` or `lake` if the catalog refuses them. */
  async commitOnce(changes: readonly TableChange[], doing: string): Promise<void> {
    const body = writeExactly({ 'table-changes': changes });
    const response = await this.send('POST', this.path('transactions/commit'), body);
    if (response.status >= 300) throw this.refusal(response, doing);
  }

  /**
   * Commits changes of several tables, of which at least one gets new rows: all or none. Whatever the response, except a refusal, checks whether the
   * catalog has the changes, and otherwise sends them again. The response to a commit has no body, and may come from a proxy. The requirements
   * prevent that changes are applied twice.
   *
   * @throws `lake-conflict` if another commit was first, `lake-uncertain` if the catalog doesn't show what happened, `lake` if it refuses.
   */
  async commit(changes: readonly TableChange[]): Promise<void> {
    const body = writeExactly({ 'table-changes': changes });
    // Why it isn't known whether an earlier attempt was applied; null after none.
    let doubt: string | null = null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await this.send('POST', this.path('transactions/commit'), body);
        if (response.status >= 300 && response.status < 500 && doubt === null) throw this.refusal(response, 'commit');
        doubt = `it returned ${response.status}, but does not show them`;
      } catch (error) {
        if (!isRekapError(error, 'lake') || error.status !== 0) throw error;
        doubt = error.message.replace(/\.$/, '');
      }
      const state = await this.stateOf(changes).catch(() => 'unknown');
      if (state === 'committed') return;
      if (state === 'superseded') throw conflictOf(this.settings.url, null);
      if (attempt === maxAttempts) {
        const what = `It is not known whether the catalog ${this.settings.url} has the changes: ${doubt}.`;
        const next = 'All tables have changed, or none. When the catalog works again, run the command again.';
        throw new RekapError('lake-uncertain', what, next);
      }
      await this.settings.clock.sleep(250 * 2 ** attempt, this.settings.signal);
    }
  }

  private refusal(response: CatalogResponse, doing: string): RekapError {
    const failure = this.failure(response, doing);
    return response.status === 409 ? conflictOf(this.settings.url, failure) : failure;
  }

  /**
   * Returns what the last table with new rows shows about a commit, and with it about all tables. `superseded` means that another commit came first,
   * so this one can't be applied any more. Nessie keeps only the last snapshot of a table, so it shows this only if the commit is the last one.
   */
  private async stateOf(changes: readonly TableChange[]): Promise<'committed' | 'superseded' | 'unknown'> {
    const [last] = changes
      .flatMap(({ identifier, requirements, updates }) => {
        const added = updates.findLast((update) => update.action === 'add-snapshot');
        const parent = requirements.find(({ ref }) => ref === 'main')?.['snapshot-id'];
        return added === undefined ? [] : { name: identifier.name, id: added.snapshot['snapshot-id'], parent };
      })
      .toReversed();
    const table = last === undefined ? null : await this.loadTable(last.name);
    if (last === undefined || table === null) return 'unknown';
    const { snapshots = [], refs = {} } = table;
    const has = (id: SnapshotId): boolean => snapshots.some((snapshot) => isSame(snapshot['snapshot-id'], id));
    if (has(last.id)) return 'committed';
    const { parent } = last;
    const isReplaced = typeof parent === 'bigint' && has(parent) && !isSame(refs['main']?.['snapshot-id'], parent);
    return isReplaced ? 'superseded' : 'unknown';
  }

  /**
   * Sends a request, and returns the response. The token is only in its header.
   * @param path Starts with /v1.
   * @throws `lake` with status 0 if there is no response.
   */
  async send(method: string, path: string, body?: string, others: Readonly<Record<string, string>> = {}) {
    const { token, url, signal } = this.settings;
    const sendWith = async (secret: Secret | undefined): Promise<CatalogResponse> => {
      const authorization = secret && { authorization: `Bearer ${secret.reveal()}` };
      const found = await exchange(url + path, {
        method,
        headers: { 'content-type': 'application/json', ...others, ...authorization },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      }).catch((error: unknown) => {
        signal.throwIfAborted();
        const what = `The catalog ${url} cannot be reached: ${messageOf(error).split('\n')[0] || 'no connection'}.`;
        const next = 'Check --catalog and the network, then run the command again.';
        throw new RekapError('lake', what, next, { cause: error });
      });
      return { ...found, text: secret?.redact(found.text) ?? found.text };
    };
    const used = await token?.(null);
    const first = await sendWith(used);
    return first.status === 401 && token !== null ? sendWith(await token(used ?? null)) : first;
  }

  private path(rest: string): string {
    return `/v1/${this.prefix}${rest}`;
  }

  private pathOf(table: string): string {
    const below = this.path(`namespaces/${encodeURIComponent(this.settings.namespace)}/tables`);
    return table === '' ? below : `${below}/${encodeURIComponent(table)}`;
  }

  private requireDone(response: CatalogResponse, doing: string): string {
    if (response.status >= 200 && response.status < 300) return response.text;
    throw this.failure(response, doing);
  }

  private failure({ status, text }: CatalogResponse, doing: string): RekapError {
    const next =
      status === 401 || status === 403
        ? 'Check REKAP_CATALOG_TOKEN or REKAP_CATALOG_CREDENTIAL, or the files that replace them, and the permissions in the catalog.'
        : 'Check --catalog and --catalog-warehouse. If they are right, contact the operator of the catalog.';
    const what = `The catalog ${this.settings.url} failed to ${doing}: ${status} ${reasonIn(text)}`
      .trimEnd()
      .replace(/\.?$/, '.');
    return new RekapError('lake', what, next, { status });
  }

  private parse(text: string): unknown {
    try {
      return parseExactly(text);
    } catch (error) {
      const what = `${this.settings.url} does not respond like an Iceberg REST catalog.`;
      const next = 'Give the URL without /v1, such as https://catalog.example/api/catalog.';
      throw new RekapError('lake', what, next, { cause: error });
    }
  }
}

export function conflictOf(url: string, cause: unknown): RekapError {
  const what = `Another publisher changed the tables of ${url} in the meantime.`;
  return new RekapError('lake-conflict', what, 'Nothing was changed. Run the command again.', { cause });
}

/** Returns the message of a catalog's error, on one line. */
function reasonIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message.split('\n')[0]!.slice(0, 300) : '';
  } catch {
    return '';
  }
}
