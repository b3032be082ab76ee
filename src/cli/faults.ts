/** Parses, lists and counts the faults of `rekap serve --faults`. */

import { usageError } from './options/usage-error.ts';
import { didYouMean } from '../runtime/closest-name.ts';
import { renderTable } from './print/table.ts';
import { inColumns } from './print/wrap-text.ts';
import {
  checkFaultValue,
  faultList,
  type FaultName,
  type FaultValues,
  presets,
  presetValues,
} from '../serve/faults/fault-list.ts';

const names: readonly string[] = [...Object.keys(presets), ...faultList.map(({ name }) => name)];

const number = /^(\d+(\.\d+)?|\.\d+)$/;

/** A fault takes precedence over a preset that contains it. @throws `usage` if a name is unknown or repeated, or a value is invalid. */
export function parseFaults(text: string): FaultValues {
  const preset: Partial<Record<FaultName, number>> = {};
  const own: Partial<Record<FaultName, number>> = {};
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const [name = '', value] = part.split(/=(.*)/s).map((piece) => piece.trim());
    if (name === '') {
      throw usageError(
        text.trim() === '' ? '--faults is empty.' : `--faults ${JSON.stringify(text)} has an extra comma.`,
        'Separate faults with commas, such as clamp=50,429=0.1. For the list, run "rekap serve --help".',
      );
    }
    if (seen.has(name)) throw usageError(`--faults contains ${name} twice.`, 'Remove one of them.');
    seen.add(name);
    if (Object.hasOwn(presets, name)) {
      if (value !== undefined)
        throw usageError(
          `${name} is a preset of several faults and does not take a value.`,
          `To set the value of one fault, add that fault: ${name},429=0.1.`,
        );
      Object.assign(preset, presetValues(name as 'transient' | 'hostile'));
      continue;
    }
    const fault = faultList.find((known) => known.name === name);
    if (fault === undefined)
      throw usageError(
        `Unknown fault ${JSON.stringify(name)}.`,
        didYouMean(name, names, 'For the list of faults, run "rekap serve --help".'),
      );
    if (value === undefined) own[fault.name] = fault.default;
    else own[fault.name] = checkFaultValue(fault, number.test(value) ? Number(value) : Number.NaN, value);
  }
  return { ...preset, ...own };
}

export function listFaults(width: number): string {
  const sets = Object.entries(presets).map(([name, { sentence }]) => [name, '', sentence] as const);
  const faults = faultList.map(
    ({ name, value, default: defaultValue, sentence }) =>
      [`${name}=${value === 'rate' ? 'P' : 'N'}`, String(defaultValue), sentence] as const,
  );
  return listInColumns([['fault', 'default', 'what happens'], ...sets, ...faults], width);
}

export function describeFaults(values: FaultValues, width: number): string {
  const rows = faultList.flatMap(({ name, sentence }) =>
    values[name] === undefined || values[name] === 0 ? [] : [[name, String(values[name]), sentence] as const],
  );
  return `Active faults:\n${listInColumns([['fault', 'value', 'what happens'], ...rows], width)}`;
}

/** Lays out three columns. The last one is wrapped. */
export function listInColumns(rows: readonly (readonly [string, string, string])[], width: number): string {
  const [name, value] = ([0, 1] as const).map((column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map(
    ([first, second, third]) => [`${first.padEnd(name!)}  ${second.padEnd(value!)}`, third] as const,
  );
  return inColumns(lines, width).join('\n');
}

export function countFaults(values: FaultValues, counts: ReadonlyMap<FaultName, number>): string {
  const rows = faultList.flatMap(({ name }) => (values[name] ? [[`  ${name}`, String(counts.get(name) ?? 0)]] : []));
  return renderTable(rows, { head: ['  fault', 'responses'], right: [1] });
}
