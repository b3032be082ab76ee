/** Makes up the sample's figures: voters and users of every regency, by list and sex, all sums in order. */

import {
  districtTurnout,
  nationalDpt,
  nokenRegencies,
  overseas,
  provinceWeights,
  regencyWeight,
  turnoutRange,
} from './assumptions.ts';
import type { District } from './districts.ts';

/** People by sex. */
export interface Sexes {
  readonly male: number;
  readonly female: number;
}

/** People on each of the three lists. */
export interface Lists {
  readonly dpt: Sexes;
  readonly dptb: Sexes;
  readonly dpk: Sexes;
}

/** One regency's voters, and how many of them used their voting right. */
export interface RegencyFigures {
  readonly district: District;
  readonly regency: string;
  readonly voters: Lists;
  readonly users: Lists;
}

/** A number from 0 up to but not including 1; each call gives the next of a fixed sequence. */
type Random = () => number;

/** What chance decides about one regency before heads are counted. */
interface Draft {
  readonly district: District;
  readonly regency: string;
  readonly weight: number;
  readonly maleShare: number;
  readonly turnout: number;
}

const seed = 20240214;

/**
 * Gives the figures of every regency, in the order of `districts`. The same districts give the same figures, on any
 * machine: beyond the seed only the four basic operations are used, which every engine rounds alike.
 */
export function makeFigures(districts: readonly District[]): readonly RegencyFigures[] {
  const random = mulberry32(seed);
  const seats = seatsByProvince(districts);
  const drafts = districts.flatMap((district) =>
    draftDistrict(district, seats.get(district.province) ?? district.seats, random),
  );
  const men = apportion(
    nationalDpt.male,
    drafts.map(({ weight, maleShare }) => weight * maleShare),
  );
  const women = apportion(
    nationalDpt.female,
    drafts.map(({ weight, maleShare }) => weight * (1 - maleShare)),
  );
  return drafts.map((draft, index) => count(draft, { male: men[index] ?? 0, female: women[index] ?? 0 }, random));
}

function seatsByProvince(districts: readonly District[]): ReadonlyMap<string, number> {
  const seats = new Map<string, number>();
  for (const district of districts) seats.set(district.province, (seats.get(district.province) ?? 0) + district.seats);
  return seats;
}

function draftDistrict(district: District, provinceSeats: number, random: Random): Draft[] {
  const provinceWeight = provinceWeights[district.province];
  if (provinceWeight === undefined) throw new Error(`No weight is assumed for the province ${district.province}.`);
  const districtWeight = (provinceWeight * district.seats * between(random, 0.95, 1.05)) / provinceSeats;
  const fixedTurnout = districtTurnout[district.dapilId];
  const turnout = fixedTurnout ?? between(random, turnoutRange.from, turnoutRange.to);
  const spread = fixedTurnout === undefined ? 0.025 : 0.004;
  const weights = district.regencies.map((regency) => regencyWeight(regency) * between(random, 0.7, 1.3));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const mostMen = district.province.startsWith('PAPUA') ? 0.535 : 0.512;
  return district.regencies.map((regency, index) => ({
    district,
    regency,
    weight: (districtWeight * (weights[index] ?? 0)) / sum + (regency === overseas.regency ? overseas.weight : 0),
    maleShare: between(random, mostMen - 0.025, mostMen),
    turnout: turnout + between(random, -spread, spread),
  }));
}

function count({ district, regency, turnout }: Draft, dpt: Sexes, random: Random): RegencyFigures {
  if (nokenRegencies.has(regency)) {
    const everybody = { dpt, dptb: { male: 0, female: 0 }, dpk: { male: 0, female: 0 } };
    return { district, regency, voters: everybody, users: everybody };
  }
  const voters = {
    dpt,
    dptb: { male: part(dpt.male, random, 0.0035, 0.01), female: part(dpt.female, random, 0.003, 0.009) },
    dpk: { male: part(dpt.male, random, 0.005, 0.015), female: part(dpt.female, random, 0.005, 0.015) },
  };
  const dptb = {
    male: part(voters.dptb.male, random, 0.82, 0.98),
    female: part(voters.dptb.female, random, 0.82, 0.98),
  };
  const dpk = { male: part(voters.dpk.male, random, 0.9, 0.995), female: part(voters.dpk.female, random, 0.9, 0.995) };
  const lead = between(random, 0.004, 0.016);
  const usersOfDpt = (sex: keyof Sexes, share: number): number =>
    Math.min(voters.dpt[sex], Math.floor(share * (voters.dpt[sex] + voters.dpk[sex])) - dptb[sex] - dpk[sex]);
  const users = {
    dpt: { male: usersOfDpt('male', turnout - lead), female: usersOfDpt('female', turnout + lead) },
    dptb,
    dpk,
  };
  return { district, regency, voters, users };
}

function part(whole: number, random: Random, from: number, to: number): number {
  return Math.floor(whole * between(random, from, to));
}

function between(random: Random, from: number, to: number): number {
  return from + (to - from) * random();
}

/** Splits `total` people by weight so that the parts add up to it exactly; the largest fractions get the last ones. */
function apportion(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((whole, weight) => whole + weight, 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const parts = exact.map(Math.floor);
  const left = total - parts.reduce((whole, people) => whole + people, 0);
  const byFraction = exact.map((share, index) => ({ index, fraction: share - Math.floor(share) }));
  byFraction.sort((a, b) => b.fraction - a.fraction || a.index - b.index);
  for (const { index } of byFraction.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}

/** The generator known as mulberry32: 32 bits of state, a good spread, ten lines. */
function mulberry32(start: number): Random {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), bits | 61)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
