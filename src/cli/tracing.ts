/** Sends the spans of a run where the standard variables of OpenTelemetry say; without them nothing of it is loaded. */

import { messageOf, RekapError } from '../errors.ts';
import type { RunTrace } from '../run/trace.ts';
import { systemClock } from '../runtime/context.ts';

export interface Tracing extends RunTrace {
  /** Sends what is left. What the receiver does not take is no failure of the run. */
  close(): Promise<void>;
}

/** @throws `usage` for an exporter or a protocol that rekap does not have. */
export function wantsTracing(environment: NodeJS.ProcessEnv): boolean {
  const given = (variable: string): string => environment[variable] ?? '';
  const endpoint = given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || given('OTEL_EXPORTER_OTLP_ENDPOINT');
  const exporter = given('OTEL_TRACES_EXPORTER') || (endpoint === '' ? 'none' : 'otlp');
  if (given('OTEL_SDK_DISABLED').toLowerCase() === 'true' || exporter === 'none') return false;
  if (exporter !== 'otlp')
    throw new RekapError('usage', `OTEL_TRACES_EXPORTER is ${JSON.stringify(exporter)}.`, 'Set it to otlp or none.');
  const protocol = given('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || given('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== 'grpc') return true;
  throw new RekapError(
    'usage',
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", but rekap sends spans only over HTTP.',
    'Set it to http/json, and set the endpoint to the HTTP port of the receiver, such as http://host:4318.',
  );
}

/**
 * @param name Of the run's span.
 * @param warn Told where the spans cannot be sent.
 */
export async function startTracing(name: string, warn: (message: string) => void): Promise<Tracing> {
  const [{ trace }, sdk, { OTLPTraceExporter }, resources, { traceRun }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('../run/trace.ts'),
  ]);
  const named = resources.resourceFromAttributes({ 'service.name': 'rekap' });
  const provider = new sdk.TracerProvider({
    resource: named.merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  // An SDK that was loaded before rekap, as by NODE_OPTIONS, stays and gets the spans.
  const isOurs = trace.setGlobalTracerProvider(provider);
  return {
    ...traceRun(name, systemClock),
    async close() {
      await provider.shutdown().catch((error: unknown) => warn(`The spans could not be sent: ${messageOf(error)}.`));
      if (isOurs) trace.disable();
    },
  };
}
