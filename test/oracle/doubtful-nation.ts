/** A nation with made-up figures and every kind of doubt that published files hold: in counts, in names, between tables, in what is no record. */

import { smallNation, type SourceData } from '../support/served-source.ts';

/** Texts and values that have been published as counts, and what a program may send besides. `undefined` leaves the field out. */
const counts: readonly unknown[] = [
  'i9',
  ' 900,012.00 ',
  '144.19',
  '(472.00)',
  '-   ',
  '-3',
  '12 ',
  '1_000',
  '0x1A',
  '1e3',
  '٣٤',
  '2147483647',
  '2147483648',
  '99999999999999999999',
  '007',
  '',
  null,
  undefined,
  true,
  412,
  -7,
  2_147_483_648,
];

/** What JSON.stringify never writes, by the text that stands for it. */
const written: Readonly<Record<string, string>> = {
  '@escaped': '"\\u0031\\u0032"',
  '@fraction': '12.0',
  '@exponent': '1e3',
  '@half': '"KEP\\ud800ULAUAN"',
};

const footer = 'Menampilkan 1 sampai 508 dari 508 entri';

const who = { datapemilihdpr: 'Pemilih', datahakpilihdpr: 'PenggunaHakPilih' } as const;
const files = Object.keys(who) as (keyof SourceData)[];

export function doubtfulNation(): SourceData {
  const nation = smallNation({ 1101: 44, 1102: 40, 1201: 12 });
  for (const file of files) {
    const records = nation[file];
    const fields = Object.keys(records[0]!).filter((field) => field.startsWith('Jumlah'));
    const doubts = [...counts, '@escaped', '@fraction', '@exponent'];
    // The two tables have their doubts in different rows, so that the checks across them have figures to compare.
    const first = file === 'datapemilihdpr' ? 0 : 44;
    for (const [at, doubt] of doubts.entries()) records[first + at]![fields[at % fields.length]!] = doubt;
    addNames(nation, file);
    addNoRecords(nation, file);
  }
  breakSums(nation);
  breakAcross(nation);
  addImplausible(nation);
  addEarlierElection(nation);
  return nation;
}

/** Names that are misspelled, doubled, missing or written strangely; all in the third partition. */
function addNames(nation: SourceData, file: keyof SourceData): void {
  const names = ["MU'ARA + KEPULAUAN", 'P A P U A', 'PAPUA', 'Papua', 'PAHUWATO', '@half', 'POHUWATO'];
  const records = nation[file].filter((record) => record['IdDapil'] === '1201');
  for (const [at, name] of names.entries()) records[at]!['NamaKabupaten'] = name;
  for (const [at, name] of [undefined, null, '', 5, 'DAPIL 1201 I'].entries()) records[at]!['NamaDapil'] = name;
  // A year with a zero in front is the same year.
  records[7]!['TahunPemilu'] = '02024';
  // A regency that stands in two partitions.
  nation[file].push({ ...records[8]!, IdDapil: '1102' });
}

/** Copies, other values under the same key, and what belongs in quarantine. */
function addNoRecords(nation: SourceData, file: keyof SourceData): void {
  const [first, second] = nation[file] as [Record<string, unknown>, Record<string, unknown>];
  const field = `JumlahSeluruh${who[file]}`;
  nation[file].splice(1, 0, { ...first }, { ...first }, { ...first, [field]: '1' }, { ...first, [field]: 'one' });
  nation[file].push(
    { ...second, NamaKabupaten: '' },
    { ...second, NamaProvinsi: null },
    { ...second, NamaKabupaten: 17 },
    // The footer of a page, as one cell, and as a row of its own without a partition.
    { ...second, TahunPemilu: footer },
    { NamaKabupaten: footer },
    footer as never,
  );
}

/** Each sum once in each table. */
function breakSums(nation: SourceData): void {
  for (const file of files) {
    const list = `Jumlah${who[file]}LakiLakiDanPerempuanDalam`;
    const wholes = [`${list}DPT`, `${list}DPTb`, `${list}DPK`, `JumlahTotal${who[file]}LakiLaki`];
    for (const [at, field] of [...wholes, `JumlahTotal${who[file]}Perempuan`, `JumlahSeluruh${who[file]}`].entries())
      nation[file].at(-30 - at)![field] = '31';
  }
}

/** More users than voters in each list and in all, and regencies that one table lacks. */
function breakAcross(nation: SourceData): void {
  const named = (index: number) => (record: Record<string, unknown>) =>
    record['NamaKabupaten'] === `KOTA 1101-${index}`;
  const users = (index: number): Record<string, unknown> => nation.datahakpilihdpr.find(named(index))!;
  for (const [at, list] of ['DPT', 'DPTb', 'DPK'].entries())
    users(30 + at)[`JumlahPenggunaHakPilihPerempuanDalam${list}`] = '2147483647';
  users(33)['JumlahSeluruhPenggunaHakPilih'] = '2147483647';
  // Pairs with two spellings: a count above the voters, and one of exactly 100 %.
  const spelled = (index: number): Record<string, unknown> => {
    const voters = nation.datapemilihdpr.find(named(index))!;
    voters['NamaKabupaten'] = `Kota\u00a01101-${index}`;
    return voters;
  };
  users(40)['JumlahPenggunaHakPilihPerempuanDalamDPT'] = '2147483647';
  spelled(40);
  const full = spelled(41);
  const list = 'JumlahPemilihLakiLakiDanPerempuanDalam';
  users(41)['JumlahSeluruhPenggunaHakPilih'] = String(Number(full[`${list}DPT`]) + Number(full[`${list}DPK`]));
  // A record of an election that no other record has.
  nation.datahakpilihdpr.push({ ...users(43), TahunPemilu: '2042' });
  // A regency in two districts, with two spellings.
  nation.datapemilihdpr.push({
    ...nation.datapemilihdpr.find(named(42))!,
    NamaKabupaten: 'kota1101-42',
    IdDapil: '1301',
  });
  nation.datapemilihdpr = nation.datapemilihdpr.filter((record) => !named(34)(record));
  nation.datahakpilihdpr = nation.datahakpilihdpr.filter((record) => !named(35)(record));
}

/** Values that are possible but unlikely, and a partition that is named after another province than its own. */
function addImplausible(nation: SourceData): void {
  const named = (file: keyof SourceData, index: number) =>
    nation[file].find((record) => record['NamaKabupaten'] === `KOTA 1101-${index}`)!;
  const list = 'JumlahPemilihLakiLakiDanPerempuanDalam';
  for (const [index, more] of [
    [36, 0],
    [37, 1],
  ] as const) {
    const voters = named('datapemilihdpr', index);
    const all = Number(voters[`${list}DPT`]) + Number(voters[`${list}DPK`]);
    named('datahakpilihdpr', index)['JumlahSeluruhPenggunaHakPilih'] = String(all + more);
  }
  const halved = named('datapemilihdpr', 38);
  for (const each of ['DPT', 'DPTb', 'DPK'])
    halved[`JumlahPemilihPerempuanDalam${each}`] = halved[`JumlahPemilihLakiLakiDalam${each}`];
  named('datapemilihdpr', 39)['JumlahSeluruhPemilih'] = halved['JumlahSeluruhPemilih'];
  for (const file of files)
    for (const record of nation[file]) if (record['IdDapil'] === '1102') record['NamaDapil'] = 'RIAU I';
}

/** Some regencies of an election before, one of them without voters in the DPT, two with a figure that is doubtful. */
function addEarlierElection(nation: SourceData): void {
  for (const file of files) {
    const earlier = smallNation({ 1101: 8, 1301: 4 })[file];
    for (const record of earlier) record['TahunPemilu'] = '2019';
    earlier[0]![`JumlahSeluruh${who[file]}`] = '5';
    earlier[1]![`Jumlah${who[file]}LakiLakiDalamDPK`] = null;
    if (file === 'datapemilihdpr')
      for (const field of Object.keys(earlier[2]!).filter((name) => name.startsWith('Jumlah')))
        earlier[2]![field] = '0';
    nation[file].push(...earlier);
  }
}

/** A body as this nation's source writes it. */
export function inJson(body: string): string {
  return Object.entries(written).reduce((text, [mark, json]) => text.replaceAll(`"${mark}"`, json), body);
}
