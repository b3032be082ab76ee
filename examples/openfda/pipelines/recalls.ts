import { date, definePipeline, text } from 'rekap';

export default definePipeline({
  table: 'recalls',
  title: 'Recalls',
  comment: 'Reports about food that was recalled.',
  path: '/food/enforcement.json',
  parameters: { sort: 'report_date:asc' },
  columns: {
    number: text('recall_number', 'Number of the recall.'),
    status: text('status', 'Ongoing, Completed or Terminated.'),
    class: text('classification', 'How dangerous the food is: Class I is the worst.'),
    state: text('state', 'State of the firm.', { nullable: true }),
    reported_on: date('report_date', 'Day of the report.', { format: 'YYYYMMDD' }),
  },
  key: ['number'],
});
