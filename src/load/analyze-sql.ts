/** Analyzes DuckDB's parse tree of a query without running it: whether its rows depend only on the tables, and which constants it selects. */

import { type Database, quoteText } from '../runtime/database.ts';

/** Table functions of their arguments alone. All others read files, settings or the catalog. */
const pureTableFunctions = new Set(['generate_series', 'json_each', 'json_tree', 'range', 'repeat', 'unnest']);

/** Functions that DuckDB calls consistent although they read the clock, the session or its settings. */
const impureCalls = new Set(
  'current_localtime current_localtimestamp current_setting getenv getvariable json_serialize_plan version'.split(' '),
);

/** Names that DuckDB reads as calls, unless a column has the name. */
const impureNames = new Set(
  'current_catalog current_date current_schema current_time current_timestamp localtime localtimestamp'.split(' '),
);

/** What a query uses, and how many bytes of it come before. */
interface Use {
  readonly name: string;
  readonly shown: string;
  readonly at: number;
  readonly kind: 'call' | 'table' | 'forbidden';
}

/** A part of DuckDB's parse tree, without empty and default members. */
type Node = Readonly<Record<string, unknown>> & {
  readonly class?: string;
  readonly type?: string;
  readonly query_location?: number;
  readonly function_name?: string;
  readonly table_name?: string;
  readonly schema_name?: string;
  readonly catalog_name?: string;
  readonly column_names?: readonly string[];
  readonly children?: readonly unknown[];
  readonly function?: Node;
};

export interface Impurity {
  /** Line of the query, from 1. */
  readonly line: number;
  /** The rest of a sentence that begins with the query. */
  readonly what: string;
}

/**
 * Returns the first reason why a query isn't pure, or null, for each query. Runs none of them.
 * @param analyzed Kind and name of what the queries around these macros use. A macro may have the name of a function that it calls.
 */
export async function findImpurities(
  database: Database,
  queries: readonly string[],
  analyzed: ReadonlySet<string> = new Set(),
): Promise<(Impurity | null)[]> {
  const uses: Use[][] = [];
  for (const sql of queries) uses.push([...usesIn(await parse(database, sql))]);
  const listed = new Set(uses.flatMap((all) => all.map(({ kind, name }) => `${kind} ${name}`)));
  const impure = await readImpure(database, listed, analyzed);
  return uses.map((all, index) => {
    const found = all.find(({ kind, name }) => kind === 'forbidden' || impure.has(`${kind} ${name}`));
    if (found === undefined) return null;
    const before = Buffer.from(queries[index]!).subarray(0, found.at).toString();
    return {
      line: before.split('\n').length,
      what: `it uses ${found.shown}, but its rows may depend on nothing except the tables of the project`,
    };
  });
}

interface Selected {
  readonly select_list?: readonly { readonly alias?: string; readonly value?: { readonly value?: unknown } }[];
  readonly left?: Selected;
  readonly right?: Selected;
}

/** Returns the constants that a query, or a part of its UNION, selects as the column. */
export async function findConstants(database: Database, sql: string, column: string): Promise<unknown[]> {
  const { statements = [] } = (await parse(database, sql)) as { readonly statements?: readonly { node: Selected }[] };
  const visit = ({ select_list: selected = [], left, right }: Selected): unknown[] => [
    ...selected.flatMap(({ alias, value }) =>
      alias?.toLowerCase() === column && value !== undefined ? [value.value ?? null] : [],
    ),
    ...[left, right].flatMap((part) => (part === undefined ? [] : visit(part))),
  ];
  return statements.flatMap(({ node }) => visit(node));
}

async function parse(database: Database, sql: string): Promise<unknown> {
  const [row] = await database.rows<{ tree: string }>(
    'SELECT json_serialize_sql($1::VARCHAR, skip_default := true, skip_null := true, skip_empty := true) AS tree',
    [sql],
  );
  const tree = JSON.parse(row!.tree) as { readonly error: boolean; readonly error_message?: string };
  return tree.error ? { type: 'INVALID', table_name: tree.error_message } : tree;
}

function* usesIn(node: unknown): Generator<Use> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) {
    const use = useOf(node as Node);
    if (use !== null) yield use;
  }
  for (const inner of Object.values(node)) yield* usesIn(inner);
}

function useOf(node: Node): Use | null {
  const { query_location: at = 0, function_name: called, function: table, column_names: names = [] } = node;
  const forbidden = (shown: string): Use => ({ name: '', shown, at, kind: 'forbidden' });
  if (node['sample'] !== undefined) return forbidden('a sample');
  if (node.type === 'INVALID') return forbidden(`what DuckDB cannot analyze (${node.table_name})`);
  if (node.type === 'SHOW_REF') return forbidden('DESCRIBE, SHOW or SUMMARIZE');
  if (node.type === 'TABLE_FUNCTION') {
    const name = table!.function_name!.toLowerCase();
    return pureTableFunctions.has(name) ? null : { ...forbidden(`${name}()`), at: table!.query_location ?? 0 };
  }
  if (node.type === 'BASE_TABLE') {
    const { catalog_name: catalog, schema_name: schema, table_name: name = '' } = node;
    const shown = [catalog, schema, name].filter((part) => part !== undefined).join('.');
    const isElsewhere = catalog !== undefined || (schema !== undefined && schema !== 'main');
    return isElsewhere ? forbidden(shown) : { name: name.toLowerCase(), shown, at, kind: 'table' };
  }
  if (called !== undefined) {
    const name = called.toLowerCase();
    // With one argument, the other end of an age is the clock. A method call, such as a.age(), hides an argument.
    const isImpure = impureCalls.has(name) || (name === 'age' && (node.children?.length ?? 0) < 2);
    return isImpure ? forbidden(`${name}()`) : { name, shown: `${name}()`, at, kind: 'call' };
  }
  const [name = '', ...others] = names;
  return node.class === 'COLUMN_REF' && others.length === 0 && impureNames.has(name.toLowerCase())
    ? forbidden(name)
    : null;
}

/** Returns kind and name of the calls that DuckDB says are volatile, also inside its macros, and of the tables that are its own. */
async function readImpure(
  database: Database,
  uses: ReadonlySet<string>,
  analyzed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const left = [...uses].filter((use) => !analyzed.has(use));
  if (left.length === 0) return new Set();
  const listed = left.map(quoteText).join(', ');
  const found = await database.rows<{ use: string; macro: string | null }>(
    `SELECT DISTINCT 'call ' || lower(function_name) AS use, macro_definition AS macro FROM duckdb_functions()
       WHERE 'call ' || lower(function_name) IN (${listed}) AND function_type NOT IN ('table', 'pragma') AND stability IS DISTINCT FROM 'CONSISTENT'
     UNION ALL SELECT 'table ' || lower(view_name), NULL FROM duckdb_views()
       WHERE internal AND schema_name IN ('main', 'pg_catalog') AND 'table ' || lower(view_name) IN (${listed})`,
  );
  const queries = found.map(({ macro }) => `SELECT ${macro}`);
  const problems = await findImpurities(database, queries, new Set([...analyzed, ...uses]));
  return new Set(found.filter(({ macro }, index) => macro === null || problems[index] !== null).map(({ use }) => use));
}
