/** Spans for OpenTelemetry: a run, its steps and its partitions go to the SDK that the user registers. */

import { type Attributes, type Context, type Span, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';

interface RecordedSpan {
  readonly name: string;
  readonly parent: RecordedSpan | undefined;
  readonly attributes: Attributes;
  status: SpanStatusCode;
  message: string | undefined;
  ended: boolean;
}

let spans: RecordedSpan[];

/** A tracer that records spans, in the place of an SDK. */
const tracer = {
  startSpan(name: string, _options: unknown, context?: Context) {
    const parent = context === undefined ? undefined : (trace.getSpan(context) as unknown as RecordedSpan | undefined);
    const span = {
      name,
      parent,
      attributes: {} as Attributes,
      status: SpanStatusCode.UNSET as SpanStatusCode,
      message: undefined as string | undefined,
      ended: false,
      setAttribute: (key: string, value: string) => void (span.attributes[key] = value),
      setAttributes: (attributes: Attributes) => void Object.assign(span.attributes, attributes),
      setStatus: ({ code, message }: { code: SpanStatusCode; message?: string }) =>
        void Object.assign(span, { status: code, message }),
      addEvent: () => undefined,
      end: () => void (span.ended = true),
    };
    spans.push(span);
    return span as unknown as Span;
  },
} as unknown as Tracer;

beforeEach(() => {
  spans = [];
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
});
afterEach(() => trace.disable());

it('a sync has a span for each partition below the step that reads it, and for each step below the run', async () => {
  const words = ['sync', '--sample', '--warehouse', await temporaryFolder(), '--json'];
  const { code, stdout } = await runHere(words);
  expect(code).toBe(0);
  const [root, ...others] = spans.filter(({ parent }) => parent === undefined);
  expect(others).toEqual([]);
  expect(root).toMatchObject({ name: 'sync', status: SpanStatusCode.UNSET });
  expect(root!.attributes['rekap.run']).toBe((JSON.parse(stdout) as { run: string }).run);
  const steps = spans.filter(({ parent }) => parent === root);
  expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['fetch', 'build tables', 'switch current']));
  const partitions = spans.filter(({ name }) => name === 'partition');
  // 84 in each of two datasets.
  expect(partitions).toHaveLength(168);
  expect(partitions.every(({ parent }) => steps.includes(parent!))).toBe(true);
  expect(spans.every(({ ended }) => ended)).toBe(true);
});

it('a run that fails has a span that says so, without the key', async () => {
  const key = 'a-key-that-is-secret';
  const source = await startTwistedSource(smallNation({ 1101: 2 }), (response, honest, request) => {
    const isPartition = new URL(request.url!, 'http://source.test').searchParams.has('id_dapil');
    response.writeHead(isPartition ? 400 : 200).end(isPartition ? `the key ${key} is too short` : honest);
  });
  const words = ['sync', '--base-url', source.url, '--max-duration', '1', '--warehouse', await temporaryFolder()];
  expect(await runHere(words, { REKAP_API_KEY: key })).toMatchObject({ code: 4 });
  expect(spans.find(({ name }) => name === 'sync')).toMatchObject({
    status: SpanStatusCode.ERROR,
    attributes: { 'error.type': 'incomplete' },
  });
  const told = JSON.stringify(spans.map(({ message, attributes }) => [message, attributes]));
  expect(told).toContain('is too short');
  expect(told).not.toContain(key);
});
