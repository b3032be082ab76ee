/** The members and headers that say that a list has more records, as services write them. */

import { expect, it } from 'vitest';
import { signsOfMore } from '../../src/source/envelope-signs.ts';
import type { EnvelopeValue } from '../../src/stages.ts';

const signsIn = (members: Record<string, EnvelopeValue>, length = 10): string[] =>
  signsOfMore({ envelope: new Map(Object.entries(members)), records: { length } }, null).map(({ at }) => at);

it.each<[string, Record<string, EnvelopeValue>]>([
  ['Stripe', { '/has_more': true }],
  ['a flag as text', { '/hasNext': 'true' }],
  ['a flag as number', { '/has_more': 1 }],
  ['ArcGIS', { '/exceededTransferLimit': true }],
  ['Spring Data', { '/last': false }],
  ['GraphQL', { '/data/items/pageInfo/hasNextPage': true }],
  ['GBIF', { '/endOfRecords': false }],
  ['OData', { '/@odata.nextLink': 'https://host/items?$skip=10' }],
  ['OData 3', { '/odata.nextLink': 'https://host/items?$skip=10' }],
  ['Salesforce', { '/nextRecordsUrl': '/query/01g-2000' }],
  ['JSON:API', { '/links/next/href': '/items?page=2' }],
  ['HAL', { '/_links/next/href': '/items?page=2' }],
  ['FHIR', { '/link/1/relation': 'next', '/link/1/url': 'https://host/?page=2' }],
  ['API Platform', { '/hydra:view/hydra:next': '/items?page=2' }],
  ['Airtable', { '/offset': 'itr1/rec2' }],
  ['Square', { '/cursor': 'abc' }],
  ['MediaWiki', { '/continue/apcontinue': 'Page_2' }],
  ['DynamoDB', { '/LastEvaluatedKey': 'k' }],
  ['Elasticsearch', { '/hits/total/value': 25 }],
  ['Algolia', { '/nbHits': 25 }],
  ['World Bank', { '/0/pages': 3 }],
  ['json-server', { 'x-total-count': '25' }],
  ['WordPress', { 'x-wp-totalpages': '3' }],
  ['GitLab', { 'x-next-page': '2' }],
  ['PostgREST', { 'content-range': '0-9/25' }],
  ['Azure DevOps', { 'x-ms-continuationtoken': 'abc' }],
])('sees that %s has more', (_service, members) => {
  expect(signsIn(members)).toHaveLength(1);
});

it.each<[string, Record<string, EnvelopeValue>]>([
  [
    'the last page',
    { '/has_more': false, '/next': null, '/last': true, '/next_cursor': '', '/total': 10, '/pages': 1 },
  ],
  ['an offset as a number', { '/offset': 0, '/limit': 10 }],
  ['a range that ends', { 'content-range': '0-9/10' }],
  ['a range without a total', { 'content-range': '0-9/*' }],
  ['other members', { '/nextElection': '2029', '/lastUpdated': '2026-11-28', '/version': 25, '/counter': 99 }],
])('sees nothing more in %s', (_what, members) => {
  expect(signsIn(members)).toEqual([]);
});
