/** Collects the values of partitions from a declared list, another endpoint, or the records of another pipeline. */

import { RekapError } from '../errors.ts';
import { type AnyPipeline, type PartitionParameter, placeOf } from '../project/declaration.ts';
import {
  joinPartition,
  nameOfList,
  partitionLists,
  partitionParameters,
  valueColumn,
} from '../project/partition-list.ts';
import { readRaw } from '../kinds/read-field.ts';
import type { AcceptedReading } from '../stages.ts';

export class CollectedValues {
  private readonly pipelines: readonly AnyPipeline[];
  private readonly values = new Map<string, Set<string>>();

  constructor(pipelines: readonly AnyPipeline[]) {
    this.pipelines = pipelines;
  }

  parentsOf(pipeline: AnyPipeline): string[] {
    const parents = partitionParameters(pipeline).flatMap(({ values }) =>
      values?.from === 'pipeline' ? [values.column.split('.')[0]!] : [],
    );
    return parents.filter((parent) => this.pipelines.some(({ table }) => table === parent));
  }

  /** Returns every combination of the values of its parameters. */
  referenceOf(pipeline: AnyPipeline): string[] {
    const [first, ...others] = partitionParameters(pipeline).map((parameter) => this.valuesOf(pipeline, parameter));
    let combined = (first ?? []).map((value) => [value]);
    for (const values of others) combined = combined.flatMap((before) => values.map((value) => [...before, value]));
    return combined.map(joinPartition);
  }

  private valuesOf(pipeline: AnyPipeline, parameter: PartitionParameter): string[] {
    const isInteger = pipeline.columns[parameter.column]?.kind === 'integer';
    // Normalized like the values of the column: 07 becomes 7.
    return this.rawValuesOf(pipeline, parameter).map((value) =>
      isInteger && /^-?\d+$/.test(value) ? String(BigInt(value)) : value,
    );
  }

  private rawValuesOf(pipeline: AnyPipeline, parameter: PartitionParameter): string[] {
    const { values } = parameter;
    switch (values?.from) {
      case undefined:
      case 'file':
        return [];
      case 'list':
        return [...values.values];
      case 'endpoint':
        return [...(this.values.get(`${nameOfList(pipeline, parameter)}.${valueColumn}`) ?? [])];
      case 'pipeline':
        return [...(this.values.get(values.column) ?? [])];
    }
  }

  /** Describes a value that only one of two readings of a dataset has. Returns null if they are the same. */
  differenceFrom(other: CollectedValues, table: string): string | null {
    for (const [name, before] of this.values) {
      if (!name.startsWith(`${table}.`)) continue;
      const after = other.values.get(name) ?? new Set();
      for (const value of after) if (!before.has(value)) return `${name} has the new value ${JSON.stringify(value)}`;
      for (const value of before) if (!after.has(value)) return `${name} no longer has ${JSON.stringify(value)}`;
    }
    return null;
  }

  async collect(pipeline: AnyPipeline, { verdict, pages }: AcceptedReading): Promise<void> {
    const { table } = pipeline;
    const isList = this.pipelines.some((child) => partitionLists(child).some((list) => list.table === table));
    const requested = this.pipelines
      .flatMap(partitionParameters)
      .flatMap(({ values }) => (values?.from === 'pipeline' ? [values.column] : []));
    const columns = isList
      ? [valueColumn]
      : requested.flatMap((name) => (name.startsWith(`${table}.`) ? [name.slice(table.length + 1)] : []));
    if (isList && !verdict.complete)
      throw new RekapError(
        'incomplete',
        `${table} could not be proved complete: ${verdict.reason}`,
        'Nothing was published. Run the sync again.',
      );
    for (const column of new Set(columns)) {
      const name = `${table}.${column}`;
      const found = this.values.get(name) ?? new Set();
      this.values.set(name, found);
      for (const accepted of pages) {
        const page = await accepted.read();
        for (let row = 0; row < page.records.length; row += 1) {
          const value = page.records.isObject[row] === 1 ? readRaw(page, row, placeOf(pipeline, column)) : null;
          if (value !== null && value !== '') found.add(value);
        }
      }
    }
  }
}
