import { definePipeline, integer, text } from 'rekap';

export default definePipeline({
  table: 'variables',
  title: 'Variables',
  comment: 'Variables of the dynamic tables, by domain: 0000 is the nation, and the others are provinces.',
  path: '/v1/api/list/model/var/lang/ind/domain/{domain}/page/{page}/key/{key}/',
  partition: { parameter: 'domain', column: 'domain', values: { from: 'list', values: ['0000', '1100', '3100'] } },
  columns: {
    domain: text('domain', 'Domain.', { from: 'request' }),
    id: integer('var_id', 'Number of the variable in its domain.'),
    title: text('title', 'Title.'),
    subject: text('sub_name', 'Subject.'),
    unit: text('unit', 'Unit.', { nullable: true }),
  },
  key: ['domain', 'id'],
});
