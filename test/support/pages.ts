/** Records and pages for tests: a record of the voters dataset, and pages as the source client would hand them on. */

import { type PageParameters, requestOf } from './page-request.ts';
import { createPageScanner } from '../../src/source/decode/page-scanner.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { Page } from '../../src/stages.ts';

/** A consistent record with all 18 fields; `overrides` replaces fields by the source's names, and `undefined` leaves one out. */
export function voterRecord(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    TahunPemilu: '2024',
    JenisPemilu: 'DPR-RI',
    IdDapil: '1101',
    NamaDapil: 'ACEH I',
    NamaProvinsi: 'ACEH',
    NamaKabupaten: 'ACEH BARAT',
    JumlahPemilihLakiLakiDalamDPT: '70800',
    JumlahPemilihPerempuanDalamDPT: '72616',
    JumlahPemilihLakiLakiDanPerempuanDalamDPT: '143416',
    JumlahPemilihLakiLakiDalamDPTb: '442',
    JumlahPemilihPerempuanDalamDPTb: '257',
    JumlahPemilihLakiLakiDanPerempuanDalamDPTb: '699',
    JumlahPemilihLakiLakiDalamDPK: '983',
    JumlahPemilihPerempuanDalamDPK: '706',
    JumlahPemilihLakiLakiDanPerempuanDalamDPK: '1689',
    JumlahTotalPemilihLakiLaki: '72225',
    JumlahTotalPemilihPerempuan: '73579',
    JumlahSeluruhPemilih: '145804',
    ...overrides,
  };
}

/**
 * The page whose answer holds `data`: a record, an array of records, an object of records, or null.
 * A string is the JSON of `data` itself, for texts that JSON.stringify never writes.
 */
export function pageOf(pipeline: AnyPipeline, data: unknown, requested: Partial<PageParameters> = {}): Page {
  const count = Array.isArray(data) ? data.length : data === null ? 0 : 1;
  const json = typeof data === 'string' ? data : JSON.stringify(data);
  const bytes = Buffer.from(`{"count":${count},"data":${json}}`);
  const request = requestOf(pipeline, requested);
  return createPageScanner(() => {})(pipeline, request, `http://source.test${request.target}`, bytes);
}
