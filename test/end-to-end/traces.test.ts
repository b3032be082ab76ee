/** Spans for OpenTelemetry: a run, its steps and its partitions, sent only where the standard variables ask for it. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';

interface ReceivedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status: { readonly code?: number };
}

/** A receiver of spans, until the present test is over. */
async function startReceiver() {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString('latin1')));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[] };
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { spans, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function syncSample(environment: Record<string, string>) {
  return runHere(['sync', '--sample', '--warehouse', await temporaryFolder(), '--json'], environment);
}

it('a sync sends its spans: every partition below the step that read it, every step below the run', async () => {
  const { spans, url } = await startReceiver();
  const { code, stdout } = await syncSample({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  expect(code).toBe(0);
  const { run } = JSON.parse(stdout) as { run: string };
  const [root, ...others] = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(others).toEqual([]);
  expect(root).toMatchObject({ name: 'sync', status: { code: 0 } });
  expect(root!.attributes).toContainEqual({ key: 'rekap.run', value: { stringValue: run } });
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === root!.spanId);
  expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['fetch', 'build tables', 'switch current']));
  const partitions = spans.filter(({ name }) => name === 'partition');
  // 84 in each of two datasets.
  expect(partitions).toHaveLength(168);
  expect(partitions.every(({ parentSpanId }) => steps.some(({ spanId }) => spanId === parentSpanId))).toBe(true);
  expect(spans.every((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))).toBe(true);
});

it('a run that fails has a span that says so', async () => {
  const { spans, url } = await startReceiver();
  const key = 'a-key-that-is-secret';
  // It repeats the key in each partition's answer.
  const source = await startTwistedSource(smallNation({ 1101: 2 }), (response, honest, request) => {
    const isPartition = new URL(request.url!, 'http://source.test').searchParams.has('id_dapil');
    response.writeHead(isPartition ? 400 : 200).end(isPartition ? `the key ${key} is too short` : honest);
  });
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: url, REKAP_API_KEY: key };
  const words = ['sync', '--base-url', source.url, '--attempts', '1', '--warehouse', await temporaryFolder()];
  const { code, stderr } = await runHere(words, environment);
  expect(code).toBe(4);
  expect(stderr).toContain('is too short');
  const root = spans.find(({ name }) => name === 'sync')!;
  expect(root.status.code).toBe(2);
  expect(root.attributes).toContainEqual({ key: 'error.type', value: { stringValue: 'incomplete' } });
  expect(JSON.stringify(spans)).toContain('is too short');
  expect(JSON.stringify(spans)).not.toContain(key);
});

it('a receiver that takes nothing is a warning', async () => {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '200' };
  const { code, stderr } = await syncSample(environment);
  expect(code).toBe(0);
  expect(stderr).toContain('The spans could not be sent');
});

it('nothing is sent where spans are switched off, and another protocol is refused', async () => {
  const { spans, url } = await startReceiver();
  for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
    expect((await syncSample({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...off })).code).toBe(0);
  expect(spans).toEqual([]);
  const grpc = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  expect((await syncSample(grpc)).code).toBe(2);
});
