/** The types refuse wrong declarations. `tsc` checks this file: it reports an expected error that doesn't occur. */

import { expect, it } from 'vitest';
import {
  count,
  decimal,
  definePipeline,
  defineProject,
  integer,
  pattern,
  range,
  refersTo,
  sum,
  text,
} from '../../src/project/define.ts';

const people = {
  table: 'people',
  title: 'People',
  comment: 'People by place.',
  path: '/people',
} as const;

const columns = {
  place: text('Place', 'Name of the place.'),
  ward: text('Ward', 'Name of the ward.', { nullable: true }),
  number: integer('Number', 'Number of the place.'),
  area: decimal('Area', 'Square kilometres.', { precision: 10, scale: 2 }),
  men: count('Men', 'Men.'),
  women: count('Women', 'Women.'),
  total: count('Total', 'Men and women.'),
};

const declared = definePipeline({
  ...people,
  columns,
  partition: { parameter: 'number', column: 'number' },
  key: ['place', 'number'],
  watch: ['total', 'area'],
  checks: [
    sum('total', ['men', 'women']),
    range('area', { min: 0 }),
    pattern('place', '[A-Z ]+'),
    refersTo('ward', 'wards.name'),
  ],
});

/** Never called: only the compiler reads it. */
export function refused(): unknown[] {
  return [
    // @ts-expect-error A nullable column identifies nothing.
    definePipeline({ ...people, columns, key: ['place', 'ward'] }),
    // @ts-expect-error Neither does a measure.
    definePipeline({ ...people, columns, key: ['area'] }),
    // @ts-expect-error Nor a count.
    definePipeline({ ...people, columns, key: ['total'] }),
    // @ts-expect-error There is no such column.
    definePipeline({ ...people, columns, key: ['plase'] }),
    // @ts-expect-error A partition's column is part of the key.
    definePipeline({ ...people, columns, key: ['place'], partition: { parameter: 'ward', column: 'ward' } }),
    // @ts-expect-error A text has no sum.
    definePipeline({ ...people, columns, key: ['place'], checks: [sum('total', ['men', 'ward'])] }),
    // @ts-expect-error A text is no sum.
    definePipeline({ ...people, columns, key: ['place'], checks: [sum('place', ['men', 'women'])] }),
    // @ts-expect-error There is no such column.
    definePipeline({ ...people, columns, key: ['place'], checks: [sum('total', ['men', 'children'])] }),
    // @ts-expect-error A text has no range.
    definePipeline({ ...people, columns, key: ['place'], checks: [range('place', { min: 1 })] }),
    // @ts-expect-error A number has no pattern.
    definePipeline({ ...people, columns, key: ['place'], checks: [pattern('total', '[0-9]+')] }),
    // @ts-expect-error There is no such column.
    definePipeline({ ...people, columns, key: ['place'], checks: [refersTo('town', 'wards.name')] }),
    // @ts-expect-error A reference names a table and a column.
    refersTo('ward', 'wards'),
    // @ts-expect-error There is no such column to watch.
    definePipeline({ ...people, columns, key: ['place'], watch: ['sum'] }),
    // @ts-expect-error A text cannot be watched.
    definePipeline({ ...people, columns, key: ['place'], watch: ['place'] }),
    // @ts-expect-error A pipeline has a key.
    definePipeline({ ...people, columns }),
    // @ts-expect-error A pipeline has no such property.
    definePipeline({ ...people, columns, key: ['place'], endpoint: '/people' }),
    // @ts-expect-error A project has a name.
    defineProject({ title: 'Small', paging: { by: 'none' } }),
    // @ts-expect-error There is no such way of paging.
    defineProject({ name: 'small', title: 'Small', paging: { by: 'scroll' } }),
    // @ts-expect-error A cursor needs a parameter.
    defineProject({ name: 'small', title: 'Small', paging: { by: 'next', cursor: '/next' } }),
    // @ts-expect-error A decimal needs its digits.
    decimal('Area', 'Square kilometres.', { precision: 10 }),
  ];
}

it('a declaration is plain data', () => {
  expect(JSON.parse(JSON.stringify(declared))).toEqual(declared);
});
