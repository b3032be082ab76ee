/** Creates OpenTelemetry spans for a run, its steps and its partitions. They are exported only if the user set up an SDK. */

import { context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import type { SyncResult } from '../run-options.ts';
import { messageOf, RekapError } from '../errors.ts';
import type { Clock, Report, RunEvent } from '../runtime/context.ts';

/** Spans of one run. */
export interface RunTrace {
  readonly report: Report;
  end(result: Pick<SyncResult, 'outcome' | 'snapshot' | 'figures'>): void;
  fail(error: unknown): void;
}

/** @param name Name of the root span, such as "sync". */
export function traceRun(name: string, clock: Pick<Clock, 'now'>): RunTrace {
  const tracer = trace.getTracer('rekap');
  const run = tracer.startSpan(name, { startTime: clock.now() });
  const partitions = new Map<string, Span>();
  let step: Span | null = null;

  function begin(child: string, parent: Span): Span {
    return tracer.startSpan(child, { startTime: clock.now() }, trace.setSpan(context.active(), parent));
  }

  function endAll(): void {
    for (const span of [...partitions.values(), ...(step === null ? [] : [step]), run]) span.end(clock.now());
  }

  function endPartition({ dataset, records, verdict }: Extract<RunEvent, { kind: 'partition' }>): void {
    const key = `${dataset} ${verdict.partition}`;
    const span = partitions.get(key);
    if (span === undefined) return;
    const { pages, readings, proof, complete, reason } = verdict;
    span.setAttributes({
      'rekap.records': records,
      'rekap.pages': pages,
      'rekap.readings': readings,
      'rekap.proof': proof,
    });
    if (!complete) span.setStatus({ code: SpanStatusCode.ERROR, message: reason ?? '' });
    span.end(clock.now());
    partitions.delete(key);
  }

  return {
    report(event) {
      if (event.kind === 'begin') run.setAttribute('rekap.run', event.run);
      else if (event.kind === 'warning') run.addEvent('warning', { message: event.message }, clock.now());
      else if (event.kind === 'step') {
        step?.end(clock.now());
        step = begin(event.step, run);
      } else if (event.kind === 'partition begins') {
        const { dataset, partition } = event;
        const span = begin('partition', step ?? run);
        span.setAttributes({ 'rekap.dataset': dataset, ...(partition !== null && { 'rekap.partition': partition }) });
        partitions.set(`${dataset} ${partition}`, span);
      } else if (event.kind === 'partition') endPartition(event);
    },
    end({ outcome, snapshot, figures }) {
      const { requests, retries, bytes } = figures;
      run.setAttributes({
        'rekap.outcome': outcome,
        'rekap.requests': requests,
        'rekap.retries': retries,
        'rekap.bytes': bytes,
      });
      if (snapshot !== null) run.setAttribute('rekap.snapshot', snapshot);
      endAll();
    },
    fail(error) {
      run.setAttribute('error.type', error instanceof RekapError ? error.code : 'unexpected');
      run.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
      endAll();
    },
  };
}
