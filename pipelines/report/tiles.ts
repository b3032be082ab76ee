/** Positions of the provinces in the tile map, by Kemendagri code: code of ISO 3166-2:ID, column, row. */

export interface Tile {
  readonly label: string;
  readonly column: number;
  readonly row: number;
}

const places = {
  11: ['AC', 0, 0],
  12: ['SU', 1, 1],
  13: ['SB', 1, 2],
  14: ['RI', 2, 2],
  15: ['JA', 2, 3],
  16: ['SS', 2, 4],
  17: ['BE', 1, 3],
  18: ['LA', 3, 4],
  19: ['BB', 3, 3],
  21: ['KR', 3, 1],
  31: ['JK', 4, 5],
  32: ['JB', 5, 5],
  33: ['JT', 6, 5],
  34: ['YO', 6, 6],
  35: ['JI', 7, 5],
  36: ['BT', 3, 5],
  51: ['BA', 8, 5],
  52: ['NB', 9, 5],
  53: ['NT', 10, 5],
  61: ['KB', 5, 1],
  62: ['KT', 5, 2],
  63: ['KS', 6, 2],
  64: ['KI', 6, 1],
  65: ['KU', 6, 0],
  71: ['SA', 9, 0],
  72: ['ST', 8, 2],
  73: ['SN', 7, 3],
  74: ['SG', 8, 3],
  75: ['GO', 8, 1],
  76: ['SR', 7, 2],
  81: ['MA', 10, 2],
  82: ['MU', 10, 1],
  91: ['PA', 13, 2],
  92: ['PB', 11, 2],
  93: ['PS', 13, 4],
  94: ['PT', 12, 3],
  95: ['PE', 13, 3],
  96: ['PD', 11, 1],
} as const;

export const tiles: ReadonlyMap<string, Tile> = new Map(
  Object.entries(places).map(([code, [label, column, row]]) => [code, { label, column, row }]),
);
