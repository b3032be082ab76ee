import { boolean, date, decimal, definePipeline, integer, sum, text, timestamp } from 'rekap';

export default definePipeline({
  table: 'payments',
  title: 'Payments',
  comment: 'Payments to campaigns.',
  path: '/payments',
  parameters: { format: 'full' },
  columns: {
    id: integer('id', 'Number of the payment.'),
    payee: text('payee', 'Who was paid.', { nullable: true }),
    paid_on: date('paid_on', 'Day of the payment.', { nullable: true }),
    booked_at: timestamp('booked_at', 'When the payment was booked.', { offset: '+07:00' }),
    net: decimal('net', 'Amount without tax.', { precision: 20, scale: 2 }),
    tax: decimal('tax', 'Tax.', { precision: 20, scale: 2 }),
    gross: decimal('gross', 'Amount with tax.', { precision: 22, scale: 3 }),
    is_final: boolean('final', 'Whether the amount can still change.', { nullable: true }),
  },
  key: ['id'],
  watch: ['gross'],
  checks: [sum('gross', ['net', 'tax'])],
});
