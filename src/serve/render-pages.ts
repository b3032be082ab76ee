/** Renders the service's home page, API reference and dictionary. They load nothing from other servers. */

import type { Relation } from '../warehouse/read-dictionary.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import { type Html, html, table } from '../runtime/html.ts';
import { formatAge } from '../runtime/text.ts';
import { defaultMaxLimit } from './limits.ts';
import { parametersOf } from './selection.ts';
import { nameInCode, page, sendRequests } from './layout.ts';
import type { ServedSnapshot } from './served-site.ts';
import { linkDownloads, type Visitor } from './table-pages.ts';

interface Home {
  readonly pipelines: readonly AnyPipeline[];
  readonly about: Pick<Project, 'title' | 'description'>;
  readonly snapshot: ServedSnapshot | null;
  readonly now: Date;
}

export function homePage(bar: Html, { pipelines, about, snapshot, now }: Home): string {
  const [first] = pipelines;
  const { partition, size } = parametersOf(first!, defaultMaxLimit);
  const example = `${first!.path}${size === null ? '' : `?${size.name}=1`}`;
  return page(
    about.title,
    bar,
    html`<h1>${about.title}</h1>
      <p>${about.description}</p>
      <p>The endpoints return JSON and require a key. The <a href="/docs">API reference</a> describes them.</p>
      ${describeSnapshot(snapshot, now)}
      <h2>Endpoints</h2>
      ${pipelines.map(
        ({ path, comment }) =>
          html`<h3>${nameInCode(path)}</h3>
            <p>${comment}</p>`,
      )}
      <pre>curl -H "x-api-key: $KEY" "$SERVICE${example}"</pre>
      <h2>Try it</h2>
      <form data-partition="${partition?.name ?? ''}" data-size="${size?.name ?? ''}">
        <label
          >Endpoint<select name="endpoint">
            ${pipelines.map(({ path }) => html`<option>${path}</option>`)}
          </select></label
        >
        <label>Partition (empty for all)<input name="partition" size="8" /></label>
        <label>Limit<input name="limit" value="1" inputmode="numeric" size="5" /></label>
        <label>Key<input name="key" type="password" autocomplete="off" size="24" /></label>
        <button>Send</button>
      </form>
      <output aria-live="polite">The response appears here.</output>
      ${sendRequests}`,
  );
}

function describeSnapshot(snapshot: ServedSnapshot | null, now: Date): Html {
  if (snapshot === null) return html`<p class="quiet">The records come from files, not from a snapshot.</p>`;
  const age = formatAge(Math.max(0, now.getTime() - snapshot.readAt.getTime()));
  return html`<p>
      Snapshot <code>${snapshot.id}</code>, read from
      ${snapshot.source === 'sample' ? 'the sample' : nameInCode(snapshot.source)} on
      ${snapshot.readAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${age} ago.
    </p>
    ${snapshot.sampleNotice === null ? null : html`<p class="bad">${snapshot.sampleNotice}</p>`}`;
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly schema: Bounds;
  }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface Properties {
  readonly [name: string]: { readonly description?: string; readonly properties?: Properties };
}

interface Document {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Properties }>>;
  };
}

function fieldsOf(properties: Properties, above = ''): [field: string, meaning: string][] {
  return Object.entries(properties).flatMap(([name, { description = '', properties: inner }]) => {
    const field = above === '' ? name : `${above}/${name}`;
    return inner === undefined ? [[field, description] as [string, string]] : fieldsOf(inner, `${above}/${name}`);
  });
}

export function docsPage(bar: Html, openapi: Readonly<Record<string, unknown>>): string {
  const { info, paths, components } = openapi as unknown as Document;
  const schemas = Object.entries(components.schemas).filter(([name]) => name !== 'Problem');
  return page(
    `${info.title}: API reference`,
    bar,
    html`<h1>API reference</h1>
      <p>${info.description} The same reference is available as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
      ${Object.entries(paths).map(([path, { get }]) => describeOperation(path, get))}
      ${schemas.map(
        ([name, { properties }]) =>
          html`<h2>${name}</h2>
            <div class="stack names">
              ${table(
                fieldsOf(properties).map(([field, meaning]) => [nameInCode(field), meaning]),
                { caption: `Fields of ${name}`, head: ['Field', 'Meaning'], numbers: [] },
              )}
            </div>`,
      )}`,
  );
}

function describeOperation(
  path: string,
  { summary, description, security, parameters = [], responses }: Operation,
): Html {
  const bounds = ({ minimum, maximum, default: usual }: Bounds) =>
    [minimum === undefined ? '' : `${minimum} to ${maximum}`, usual === undefined ? '' : `default ${usual}`]
      .filter((part) => part !== '')
      .join('; ');
  return html`<h2>GET ${nameInCode(path)}</h2>
    <p>
      ${prose(description ?? `${summary}.`)}
      <span class="quiet">${describeSecurity(security)}</span>
    </p>
    ${
      parameters.length === 0
        ? null
        : html`<div class="stack names">
            ${table(
              parameters.map((parameter) => [
                nameInCode(parameter.name),
                note(parameter.in),
                note(bounds(parameter.schema)),
                parameter.description,
              ]),
              { caption: 'Parameters', head: ['Name', 'In', 'Values', 'Meaning'], numbers: [] },
            )}
          </div>`
    }
    ${table(
      Object.entries(responses).map(([status, response]) => [status, prose(response.description)]),
      { caption: 'Responses', head: ['Status', 'Meaning'], numbers: [] },
    )}`;
}

function describeSecurity(security: readonly object[]): string {
  if (security.length === 0) return 'Requires no key.';
  const isOptional = security.some((scheme) => Object.keys(scheme).length === 0);
  return isOptional ? 'Requires a key in x-api-key, except for the sample.' : 'Requires a key in x-api-key.';
}

function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : nameInCode(part)))}`;
}

function note(text: string): Html | null {
  return text === '' ? null : html`<span class="note">${text}</span>`;
}

export function dictionaryPage(bar: Html, relations: readonly Relation[], visitor: Visitor): string {
  return page(
    'Dictionary',
    bar,
    html`<h1>Dictionary</h1>
      <p>
        Every table and view of the snapshot, and what its columns mean. <a href="/tables">Tables</a> shows their first
        rows.
      </p>
      ${relations.map(
        ({ name, meaning, columns }) =>
          html`<h2 id="${name}">${nameInCode(name)}</h2>
            <p>${meaning}</p>
            ${linkDownloads(name, visitor)}
            <div class="stack names">
              ${table(
                columns.map((column) => [
                  nameInCode(column.name),
                  note(column.type),
                  note(column.unit),
                  column.meaning,
                  column.field === null ? null : html`<span class="field">${nameInCode(column.field)}</span>`,
                ]),
                {
                  caption: `Columns of ${name}`,
                  head: ['Column', 'Type', 'Unit', 'Meaning', 'Source field'],
                  numbers: [],
                },
              )}
            </div>`,
      )}`,
  );
}
