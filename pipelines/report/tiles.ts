/** Where each province stands in the tile map: name, code of ISO 3166-2:ID, column, row. */

/** Provinces that sources spell in several ways, by what all of them hold. */
const spellings: Readonly<Record<string, string>> = {
  'DKI JAKARTA': 'JAKARTA',
  'DAERAH ISTIMEWA YOGYAKARTA': 'YOGYAKARTA',
  'KEPULAUAN BANGKA BELITUNG': 'BANGKA BELITUNG',
};

/** Whether a source means the province of a tile. */
export function isProvince(tile: string, name: string): boolean {
  const spelled = name.toUpperCase();
  return spelled === tile || (spellings[tile] !== undefined && spelled.includes(spellings[tile]));
}

export const tiles: readonly (readonly [name: string, code: string, column: number, row: number])[] = [
  ['ACEH', 'AC', 0, 0],
  ['SUMATERA UTARA', 'SU', 1, 1],
  ['SUMATERA BARAT', 'SB', 1, 2],
  ['RIAU', 'RI', 2, 2],
  ['KEPULAUAN RIAU', 'KR', 3, 1],
  ['JAMBI', 'JA', 2, 3],
  ['BENGKULU', 'BE', 1, 3],
  ['KEPULAUAN BANGKA BELITUNG', 'BB', 3, 3],
  ['SUMATERA SELATAN', 'SS', 2, 4],
  ['LAMPUNG', 'LA', 3, 4],
  ['BANTEN', 'BT', 3, 5],
  ['DKI JAKARTA', 'JK', 4, 5],
  ['JAWA BARAT', 'JB', 5, 5],
  ['JAWA TENGAH', 'JT', 6, 5],
  ['DAERAH ISTIMEWA YOGYAKARTA', 'YO', 6, 6],
  ['JAWA TIMUR', 'JI', 7, 5],
  ['BALI', 'BA', 8, 5],
  ['NUSA TENGGARA BARAT', 'NB', 9, 5],
  ['NUSA TENGGARA TIMUR', 'NT', 10, 5],
  ['KALIMANTAN BARAT', 'KB', 5, 1],
  ['KALIMANTAN TENGAH', 'KT', 5, 2],
  ['KALIMANTAN SELATAN', 'KS', 6, 2],
  ['KALIMANTAN TIMUR', 'KI', 6, 1],
  ['KALIMANTAN UTARA', 'KU', 6, 0],
  ['SULAWESI UTARA', 'SA', 9, 0],
  ['GORONTALO', 'GO', 8, 1],
  ['SULAWESI TENGAH', 'ST', 8, 2],
  ['SULAWESI BARAT', 'SR', 7, 2],
  ['SULAWESI SELATAN', 'SN', 7, 3],
  ['SULAWESI TENGGARA', 'SG', 8, 3],
  ['MALUKU UTARA', 'MU', 10, 1],
  ['MALUKU', 'MA', 10, 2],
  ['PAPUA BARAT DAYA', 'PD', 11, 1],
  ['PAPUA BARAT', 'PB', 11, 2],
  ['PAPUA', 'PA', 13, 2],
  ['PAPUA TENGAH', 'PT', 12, 3],
  ['PAPUA PEGUNUNGAN', 'PE', 13, 3],
  ['PAPUA SELATAN', 'PS', 13, 4],
];
