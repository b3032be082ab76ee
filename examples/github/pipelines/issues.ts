import { count, definePipeline, integer, json, text, timestamp } from 'rekap';

export default definePipeline({
  table: 'issues',
  title: 'Issues',
  comment: 'Issues and pull requests.',
  path: '/repos/example/figures/issues',
  parameters: { state: 'all', sort: 'created', direction: 'asc' },
  columns: {
    number: integer('number', 'Number of the issue.'),
    title: text('title', 'Title.'),
    state: text('state', 'open or closed.'),
    author: text('/user/login', 'Who opened it.', { nullable: true }),
    opened_at: timestamp('created_at', 'When it was opened.'),
    closed_at: timestamp('closed_at', 'When it was closed.', { nullable: true }),
    comments: count('comments', 'Number of comments.'),
    labels: json('labels', 'Labels.'),
  },
  key: ['number'],
});
