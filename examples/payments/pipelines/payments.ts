import { boolean, date, decimal, definePipeline, pattern, sum, text, timestamp } from 'rekap';

export default definePipeline({
  table: 'payments',
  title: 'Payments',
  comment: 'Payments to campaigns. Amounts keep every digit.',
  path: '/v2/payments',
  columns: {
    id: text('id', 'Number of the payment.'),
    payee: text('/payee/name', 'Name of the campaign.', { nullable: true }),
    paid_on: date('paidOn', 'Day of the payment.', { nullable: true }),
    booked_at: timestamp('bookedAt', 'Time of the booking; local times are seven hours ahead.', { offset: '+07:00' }),
    net: decimal('net', 'Amount without tax.', { precision: 24, scale: 2 }),
    tax: decimal('tax', 'Tax.', { precision: 24, scale: 2 }),
    gross: decimal('gross', 'Amount with tax.', { precision: 24, scale: 2 }),
    final: boolean('final', 'Whether the payment can no longer be changed.', { nullable: true }),
  },
  key: ['id'],
  watch: ['gross'],
  checks: [sum('gross', ['net', 'tax']), pattern('id', 'P-[0-9]{4}')],
});
