/** What the sample assumes about sizes and turnout. Only the national totals are official figures. */

/** Voters in the permanent list (DPT) of 2024 as announced by the election commission, overseas voters included. */
export const nationalDpt = { male: 102_218_503, female: 102_588_719 } as const;

/** How heavy each province is: about its thousands of voters in the DPT of 2024. */
export const provinceWeights: Readonly<Record<string, number>> = {
  ACEH: 3742,
  'SUMATERA UTARA': 10854,
  'SUMATERA BARAT': 4089,
  RIAU: 4732,
  JAMBI: 2676,
  'SUMATERA SELATAN': 6326,
  BENGKULU: 1495,
  LAMPUNG: 6539,
  'KEPULAUAN BANGKA BELITUNG': 1067,
  'KEPULAUAN RIAU': 1501,
  'DKI JAKARTA': 8253,
  'JAWA BARAT': 35715,
  'JAWA TENGAH': 28289,
  'DAERAH ISTIMEWA YOGYAKARTA': 2871,
  'JAWA TIMUR': 31403,
  BANTEN: 8843,
  BALI: 3270,
  'NUSA TENGGARA BARAT': 3918,
  'NUSA TENGGARA TIMUR': 4008,
  'KALIMANTAN BARAT': 3959,
  'KALIMANTAN TENGAH': 1935,
  'KALIMANTAN SELATAN': 3025,
  'KALIMANTAN TIMUR': 2779,
  'KALIMANTAN UTARA': 504,
  'SULAWESI UTARA': 1970,
  'SULAWESI TENGAH': 2237,
  'SULAWESI SELATAN': 6671,
  'SULAWESI TENGGARA': 1868,
  GORONTALO: 881,
  'SULAWESI BARAT': 986,
  MALUKU: 1341,
  'MALUKU UTARA': 954,
  PAPUA: 728,
  'PAPUA BARAT': 385,
  'PAPUA SELATAN': 367,
  'PAPUA TENGAH': 1129,
  'PAPUA PEGUNUNGAN': 1306,
  'PAPUA BARAT DAYA': 441,
};

/** Voters abroad, in thousands; they vote in Jakarta Pusat's row. */
export const overseas = { regency: 'JAKARTA PUSAT + LUAR NEGERI', weight: 1750 } as const;

/** How heavy a regency is beside its neighbours in the district, before chance varies it. */
export function regencyWeight(regency: string): number {
  return knownWeights[regency] ?? (regency.startsWith('KOTA ') ? 0.4 : 1);
}

/** Places whose size is far from that of an ordinary regency (1) or an ordinary city (0.4). */
const knownWeights: Readonly<Record<string, number>> = {
  'BANDUNG BARAT': 0.55,
  'JAKARTA PUSAT + LUAR NEGERI': 0.5,
  'KEP. SERIBU': 0.015,
  'KOTA AMBON': 1.5,
  'KOTA BALIKPAPAN': 1.6,
  'KOTA BANDA ACEH': 0.9,
  'KOTA BANDAR LAMPUNG': 1.3,
  'KOTA BANDUNG': 2,
  'KOTA BANJARMASIN': 1.5,
  'KOTA BATAM': 5,
  'KOTA BEKASI': 1.2,
  'KOTA BENGKULU': 1.3,
  'KOTA BOGOR': 0.55,
  'KOTA DENPASAR': 1.2,
  'KOTA DEPOK': 1,
  'KOTA GORONTALO': 0.8,
  'KOTA JAMBI': 1.6,
  'KOTA JAYAPURA': 2.5,
  'KOTA KENDARI': 1.5,
  'KOTA KUPANG': 1.2,
  'KOTA MAKASSAR': 2.5,
  'KOTA MANADO': 2,
  'KOTA MEDAN': 1.6,
  'KOTA PADANG': 2,
  'KOTA PALEMBANG': 2.5,
  'KOTA PALU': 1.2,
  'KOTA PEKANBARU': 1.8,
  'KOTA PONTIANAK': 1.3,
  'KOTA SAMARINDA': 1.8,
  'KOTA SEMARANG': 1.6,
  'KOTA SORONG': 2,
  'KOTA SURABAYA': 1.5,
  'KOTA TANGERANG SELATAN': 0.6,
  'KOTA TANGERANG': 0.7,
  'KOTA TARAKAN': 1.3,
  LUMAJANG: 0.45,
  'MAHAKAM ULU': 0.1,
  SUPIORI: 0.3,
  'TANA TIDUNG': 0.2,
};

/** Users of all lists per voter in DPT and DPK, where a district stands apart; elsewhere chance decides. */
export const districtTurnout: Readonly<Record<number, number>> = {
  1201: 0.72,
  3102: 0.69,
  9401: 0.905,
  9501: 0.94,
};

/** The range of turnout in all other districts; its middle leads to the announced national 81.4 %. */
export const turnoutRange = { from: 0.7665, to: 0.8665 } as const;

/**
 * Regencies that vote by noken, a bag in which a village casts its votes together: everybody listed counts as a user,
 * and nobody comes from another list.
 */
export const nokenRegencies: ReadonlySet<string> = new Set(['LANNY JAYA', 'NDUGA', 'TOLIKARA', 'YAHUKIMO']);
