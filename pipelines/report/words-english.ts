/** English texts of the report. Numbers are inserted as elements that name their figure. */

import { type Html, html } from '../../src/runtime/html.ts';

function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

export const english = {
  title: 'Who voted',
  skip: 'Skip to the figures',
  mark: 'SAMPLE',
  sample: 'Sample: these figures are made up',
  read: (source: Html, at: Html) => html`Read from ${source} on ${at} UTC.`,
  madeUp: 'the sample',
  otherElections: (names: string) =>
    `This snapshot also holds ${names}. The report is about the election in its title. Sections that cover all elections say so.`,
  allElections: 'All elections in this snapshot',

  turnout: 'Turnout',
  men: 'Men',
  women: 'Women',
  both: 'Both',
  voters: 'Registered voters',
  users: 'People who voted',
  place: 'Place',
  regency: 'Regency',
  province: 'Province',
  district: 'District',
  usersCompared: 'People who voted',
  votersCompared: 'Registered voters (DPT + DPK)',

  headline: ({
    rate,
    users,
    voters,
    compared,
    of,
  }: Readonly<Record<'rate' | 'users' | 'voters' | 'compared' | 'of', Html>>) =>
    html`Turnout was ${rate}: ${users} people who voted ÷ ${voters} registered voters in the DPT and the DPK, in
    ${compared} of ${of} regencies.`,
  womenHigher: (women: Html, of: Html) => html`Women voted at a higher rate than men in ${women} of ${of} provinces.`,
  menHigher: (men: Html, of: Html) => html`Men voted at a higher rate than women in ${men} of ${of} provinces.`,
  equalRates: (equal: Html, count: number) =>
    html` In ${equal} ${plural(count, 'province', 'provinces')}, the two rates are equal.`,
  unknownRates: (unknown: Html, count: number) =>
    html` In ${unknown} ${plural(count, 'province', 'provinces')}, a rate is unknown.`,
  extremes: (highest: string, high: Html, lowest: string, low: Html) =>
    html`Turnout was highest in ${highest} (${high}) and lowest in ${lowest} (${low}).`,
  otherExtremes: (highest: string, high: Html, lowest: string, low: Html) =>
    html` If regencies with contradictory figures are included, and every province is ranked, it was highest in
    ${highest} (${high}) and lowest in ${lowest} (${low}).`,
  allEqual: (equal: Html, count: number) =>
    html`Men and women voted at the same rate in ${equal} ${plural(count, 'province', 'provinces')}.`,
  partial: (share: Html | string) => html`compared: ${share} of its voters`,
  partialKey: 'partly compared',
  partialPlaces: (least: Html) =>
    html`A province or district is marked, and isn’t ranked, if the regencies compared have less than ${least} of its
    known voters.`,
  noRate: (reasons: readonly Html[]) => html`no regency compared: ${listed(reasons, 'and')}`,
  exactly: (places: Html, count: number, rate: Html) =>
    html`${places} ${plural(count, 'regency reports', 'regencies report')} a turnout of exactly ${rate}.`,
  above: (places: Html, count: number, rate: Html) =>
    html`${places} ${plural(count, 'regency reports', 'regencies report')} a turnout above ${rate}.`,
  leftOut: (reasons: readonly Html[]) => html`Regencies excluded from every rate: ${listed(reasons, 'and')}.`,
  leftReasons: {
    missing: (count: Html) => html`${count} missing in a dataset`,
    unknown: (count: Html) => html`${count} with an unknown figure`,
    zero_denominator: (count: Html) => html`${count} without men or without women in the DPT`,
    contradicting: (count: Html) => html`${count} with contradictory figures`,
  },
  withContradicting: (rate: Html, fraction: Html) =>
    html`If regencies with contradictory figures are included, turnout was ${rate} (${fraction}).`,
  coverage: (regencies: Html, count: number) =>
    html`on all lists, in ${regencies} ${plural(count, 'regency', 'regencies')}`,
  perVoters: (asKpu: boolean) =>
    html`Turnout is the number of people who voted, on all lists, divided by the number of registered voters in the DPT
    and the DPK${asKpu ? html`, as the election commission (KPU) computed it for <time>2024</time>` : null}.`,

  provinces: 'Turnout by province',
  districts: 'Turnout by electoral district',
  namesDiffer: (problems: Html) =>
    html`Some districts are named after a province that their regencies don’t belong to. Their figures differ from those
    of the province. ${problems} lists these districts.`,
  dots: 'Circle: men. Diamond: women. Number: men and women together.',
  map: 'Provinces on a tile map',
  tileKey: 'Key to the codes',
  notOnMap: (names: string) => `Not on the map, because no official name matches: ${names}.`,
  unknown: 'unknown',
  note: 'Note',
  share: 'Share in percent',
  printAll: 'Print the table of regencies and all folded parts too',
  asTable: 'Show the numbers',
  highest: 'Highest turnout',
  lowest: 'Lowest turnout',
  ranked: 'Only regencies with known and consistent figures are ranked.',
  tied: (tied: Html, rate: Html, shown: Html) =>
    html`${tied} regencies tie at ${rate}. The list shows ${shown} of them, in alphabetical order.`,

  regencies: 'All regencies and cities',
  regenciesMean:
    'Turnout by regency is the number of people who voted, on all lists, divided by the number of registered voters in the DPT and the DPK.',
  search: 'Search for a regency',
  allProvinces: 'All provinces',
  onlyProblems: 'Only with problems',
  problems: 'Problems',
  statuses: {
    'missing in a dataset': 'missing in a dataset',
    unknown: 'unknown figure',
    'zero denominator': 'no men or no women in the DPT',
    contradicting: 'contradictory',
    compared: '',
  } as Readonly<Record<string, string>>,
  moreRegencies: (left: Html, n: number) =>
    html`The view ${html`<code>turnout</code>`} has ${left} more ${plural(n, 'regency', 'regencies')}.`,

  lists: 'The three lists',
  listsMean:
    'The three lists are the permanent list (DPT), the supplementary list (DPTb), and the additional list (DPK). For the two small lists, the bars show the share of all registered voters and of all people who voted in the compared regencies.',
  list: 'List',
  rate: 'Voted ÷ registered',
  listRates: 'Voted ÷ registered, in the compared regencies',
  shareOf: { voters: 'of all registered voters', users: 'of all people who voted' },
  listCounts: 'Known numbers of men and women on each list, in all regencies',
  chainEqual: { voters: 'Registered voters', voting_rights_users: 'People who voted' } as Readonly<
    Record<string, string>
  >,
  chain: (what: string, total: Html, difference: Html, leaves: Html) =>
    html`${what}: the sum of the source’s grand totals is ${total}. Minus the differences in
    ${html`<a href="#reconciliation">Sums</a>`} (${difference}), it equals the sum of the lists (${leaves}).`,
  sums: 'Sums',
  sumsMean:
    'Each row compares a total of the source with the sum of its parts. The source total minus the difference equals the sum of the known parts. The view reconciliation lists every row behind a difference.',
  sum: 'Sum',
  sourceTotal: 'Source total',
  knownParts: 'Sum of known parts',
  difference: 'Difference',
  rowsListed: 'Rows listed',

  trust: 'Can I trust this?',
  proved: 'Completeness',
  provedMeans: (dataset: string, complete: Html, withRecords: Html, records: Html) =>
    html`${html`<strong>${dataset}</strong>`}: ${complete} of ${withRecords} of the districts with records complete,
    with ${records} records.`,
  confirmed: (byListing: Html, again: Html) =>
    html` Confirmed by the full listing and a request for the district: ${byListing}. Confirmed by repeated passes over
    the pages of the district: ${again}.`,
  empty: (empty: Html, n: number) =>
    html` ${empty} more ${plural(n, 'district was requested but has', 'districts were requested but have')} no records.`,
  dataset: 'Dataset',
  records: 'Records',
  passes: 'Passes over the district listing',
  listedRecords: 'In the full listing',
  proof: 'Proved by',
  proofs: { 'own end': 'district listing', 'full listing': 'full listing', none: 'not proved' },
  readAt: 'Read (UTC)',
  allDistricts: 'Show every district',
  ledger: 'Records by outcome',
  fetched: 'Fetched',
  published: 'Published',
  quarantined: 'Quarantined',
  duplicates: 'Duplicates',
  carried: 'Carried over',
  rows: 'Rows',

  columns: {
    dpt_male: 'men in the DPT',
    dpt_female: 'women in the DPT',
    dpt_total: 'men and women in the DPT',
    dptb_male: 'men in the DPTb',
    dptb_female: 'women in the DPTb',
    dptb_total: 'men and women in the DPTb',
    dpk_male: 'men in the DPK',
    dpk_female: 'women in the DPK',
    dpk_total: 'men and women in the DPK',
    male_total: 'men on all lists',
    female_total: 'women on all lists',
    grand_total: 'men and women on all lists',
    election_year: 'the election year',
    election_type: 'the election type',
    dapil_id: 'the district number',
    dapil_name: 'the district name',
    province: 'the province',
    regency: 'the regency',
  } as Readonly<Record<string, string>>,
  violations: 'Problems in the data',
  violationsMean:
    'These problems are in the data of the source. rekap corrects nothing: it publishes the rows, and marks them. Records that can’t be rows, such as two with the same key and other figures, are in quarantine.',
  noViolations: 'All checks pass.',
  severities: {
    error: (count: Html, n: number) => html`${count} ${plural(n, 'error', 'errors')}`,
    warning: (count: Html, n: number) => html`${count} ${plural(n, 'warning', 'warnings')}`,
  } as Readonly<Record<string, (count: Html, n: number) => Html>>,
  oneSeverity: { error: 'error', warning: 'warning' } as Readonly<Record<string, string>>,
  ages: (fresh: Html, resolved: Html) => html` (${fresh} new, ${resolved} resolved since the previous snapshot)`,
  elsewhere: (count: Html) => html`Violations in other elections of this snapshot: ${count}.`,
  isNew: 'new',
  since: 'since',
  wholeDistrict: 'Whole district',
  morePlaces: (left: Html, n: number) =>
    html`The table ${html`<code>violations</code>`} has ${left} more ${plural(n, 'place', 'places')}.`,
  evidence: 'Evidence',
  fromAll: 'full listing',
  fromDistrict: 'district listing',
  notKept: 'The responses are from an earlier run, or are no longer stored.',
  restated: 'Changed by the source since the previous snapshot',
  nothingRestated: 'No values changed.',
  noPrevious: 'This is the first snapshot of this source.',
  moreRestated: (left: Html, n: number) =>
    html`The table ${html`<code>changes</code>`} has ${left} more ${plural(n, 'value', 'values')}.`,
  column: 'Column',
  before: 'Before',
  after: 'Now',
  withoutCode: (names: string) => `No official (Kemendagri) code, because no official name matches: ${names}.`,
  method: 'Method',
  carriedOver: (carried: Html, rows: Html) =>
    html`${carried} of ${rows} rows weren’t read then: they are from earlier syncs.`,
  requested: (isWhole: boolean): string =>
    isWhole
      ? 'rekap requests every electoral district.'
      : 'This sync requested a part of the electoral districts. The other rows are from earlier syncs.',
  methodText:
    'rekap stores each response byte for byte. It converts digits to integers without guessing, and compares men, women and totals. An unknown figure never counts as zero. A rate includes only regencies whose figures are all known and pass every check of severity error, and that have men and women in the DPT.',
  again: (verify: Html, replay: Html, evidence: Html) =>
    html`To check the data yourself, run these commands: ${verify} compares files, sums and responses, ${replay} builds
    the tables again, and ${evidence} shows the record behind a figure.`,
  figureNames: 'In the source of this page, each figure names its origin: view, column and key.',
  warnings: 'Warnings of the sync',
  hashes: 'Files of this snapshot and their SHA-256',
  file: 'File',
  snapshot: 'Snapshot',

  pinned: 'This snapshot is pinned: it stays current while syncs keep newer ones beside it.',
  otherPinned: (pinned: Html) => html`This snapshot isn’t current, because snapshot ${pinned} is pinned.`,
  unknownTotals: (voters: Html, users: Html) =>
    html`The totals above exclude regencies whose number is unknown: ${voters} for registered voters and ${users} for
    people who voted.`,
  warningsOnly: (places: Html, n: number) =>
    html`Show ${places} more ${plural(n, 'place', 'places')} with warnings only`,
};

export type Words = typeof english;

export function listed(parts: readonly Html[], and: string): Html {
  const last = parts.length > 2 ? `, ${and} ` : ` ${and} `;
  return html`${parts.map((part, at) => html`${at === 0 ? '' : at === parts.length - 1 ? last : ', '}${part}`)}`;
}
