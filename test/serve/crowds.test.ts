/** Crowds that send much ahead and read little or nothing: the service keeps within its memory, answers others, and ends when told. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { askHonestly, gather, startLimited } from './crowd.ts';

/** `REKAP_CROWDS=8` makes them eight times as large, as for the figures in docs/explanation/reliability.md. */
const times = Number(process.env['REKAP_CROWDS'] ?? 1);
const records = '/api/datapemilihdpr?limit=1000';

describe('a crowd that sends requests ahead', () => {
  it.each([
    ['with a key, and reads nothing', { path: records, withKey: true, slowly: 0 }],
    ['with a key, and reads slowly', { path: records, withKey: true, slowly: 10_000 }],
    ['without a key, and reads nothing', { path: '/openapi.json', withKey: false, slowly: 0 }],
  ])('%s', async (_, habits) => {
    const service = await startLimited(64);
    onTestFinished(() => service.kill());
    const leave = await gather(service.url, { ...habits, connections: Math.min(60 * times, 450), requests: 600 });
    onTestFinished(leave);
    const { statuses, ...latencies } = await askHonestly(service.url, 200 * times, 4);
    expect(statuses).toEqual({ 200: 200 * times });
    const peak = service.peakMemory();
    expect(peak ?? 0).toBeLessThan(256);
    const { code, stderr, milliseconds } = await service.terminate();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    if (times > 1) process.stdout.write(`${JSON.stringify({ ...latencies, peak, milliseconds })}\n`);
  });
});
