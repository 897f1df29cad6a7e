import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  type MeterProvider,
  metrics,
  propagation,
  type Span,
  SpanStatusCode,
  type TimeInput,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import {
  isBoolean,
  isObject,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { ToolResult } from '../contract/call.js';
import type {
  BatchTrace,
  EarlierDecision,
  Telemetry,
  TracedBatch,
  TracedCall,
} from '../contract/telemetry.js';
import { systemClock } from '../platform/clock/clock.js';

export interface OtelOptions {
  /** Default: the global one of `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the global one of `@opentelemetry/api`. */
  readonly meterProvider?: MeterProvider;
  /**
   * Spans contain the arguments, without known secrets and without arguments that the journal leaves out. Default
   * false.
   */
  readonly recordArguments?: boolean;
  /** Spans contain the output and the error's message, redacted and truncated like results. Default false. */
  readonly recordResults?: boolean;
}

const RULES: OptionRules<{ [K in keyof OtelOptions]-?: OtelOptions[K] | undefined }> = {
  tracerProvider: option(undefined, isObject, 'a TracerProvider'),
  meterProvider: option(undefined, isObject, 'a MeterProvider'),
  recordArguments: option(false, isBoolean, 'true or false'),
  recordResults: option(false, isBoolean, 'true or false'),
};

const SCOPE = 'toolexec';
const OPERATION = 'execute_tool';

/**
 * Spans and metrics of calls, for `createExecutor({ telemetry: otel() })`: `execute_tool NAME`, with the
 * waits for approval and for other calls, and the run, as children. If a framework already creates such a
 * span for the call, the children belong to that.
 * @throws ToolError `config_invalid` for a wrong option
 */
export function otel(options: OtelOptions = {}): Telemetry {
  const { tracerProvider, meterProvider, recordArguments, recordResults } = normalizeOptions(
    'otel',
    options,
    RULES,
  );
  const meters = durations(meterProvider);
  const tracer = tracerOf(tracerProvider);
  const settings = { recordArguments: recordArguments === true, recordResults: recordResults === true };
  return {
    batch: (batch) => new OtelBatch(batch, { ...settings, tracer: tracer(), record: meters }),
  };
}

/** The global provider may be replaced after `otel()`, so the tracer is looked up again if the provider has changed. */
function tracerOf(given: TracerProvider | undefined): () => Tracer {
  let known: { readonly provider: TracerProvider; readonly tracer: Tracer } | undefined;
  return () => {
    const provider = given ?? trace.getTracerProvider();
    if (known?.provider !== provider) known = { provider, tracer: provider.getTracer(SCOPE) };
    return known.tracer;
  };
}

type Kind = 'run' | 'approval' | 'queue';
type RecordDuration = (kind: Kind, ms: number, attributes: Attributes) => void;

interface Metric {
  readonly name: string;
  readonly description: string;
  /** The default boundaries of OpenTelemetry are for milliseconds: all calls below five seconds would be in one bucket. */
  readonly boundaries: readonly number[];
}

/** The boundaries that the semantic conventions for generative AI give for durations. */
const OF_CALLS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Up to a day. */
const OF_PERSONS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

/** The names from the semantic conventions for generative AI, if they have one. */
const METRICS: Readonly<Record<Kind, Metric>> = {
  run: {
    name: 'gen_ai.execute_tool.duration',
    description: 'The run of a tool, without the time spent waiting for the person.',
    boundaries: OF_CALLS,
  },
  approval: {
    name: 'toolexec.approval.duration',
    description: 'From the question about a call to the decision.',
    boundaries: OF_PERSONS,
  },
  queue: {
    name: 'toolexec.queue.duration',
    description: 'The time for which a call waits for other calls.',
    boundaries: OF_CALLS,
  },
};

/** The global provider may be set after `otel()`, so its histograms are created when it appears. */
function durations(given: MeterProvider | undefined): RecordDuration {
  let provider: MeterProvider | undefined;
  let histograms: Partial<Record<Kind, Histogram>> = {};
  return (kind, ms, attributes) => {
    const current = given ?? metrics.getMeterProvider();
    if (current !== provider) {
      provider = current;
      histograms = {};
    }
    histograms[kind] ??= createHistogram(METRICS[kind], current);
    histograms[kind].record(ms / 1000, attributes);
  };
}

function createHistogram({ name, description, boundaries }: Metric, provider: MeterProvider): Histogram {
  const advice = { explicitBucketBoundaries: [...boundaries] };
  return provider.getMeter(SCOPE).createHistogram(name, { description, unit: 's', advice });
}

interface BatchSettings {
  readonly tracer: Tracer;
  readonly record: RecordDuration;
  readonly recordArguments: boolean;
  readonly recordResults: boolean;
}

/** A wait or a run that has not ended. */
interface Open {
  /** Undefined: the trace of the call is not recorded, or the wait was over before this batch. */
  readonly span: Span | undefined;
  readonly since: number;
}

interface OpenCall {
  readonly call: TracedCall;
  readonly span: Span;
  /** False: the framework has created the span of the call. */
  readonly isOurs: boolean;
  /** Contains the span of the call. */
  readonly context: Context;
  /** An unrecorded span costs about half as much as a recorded one, so its children are not created. */
  readonly isRecorded: boolean;
  queue: Open | undefined;
  approval: Open | undefined;
  run: Open | undefined;
  /** Contains the span of the run. */
  inside: Context | undefined;
  /** The time for which the run waited for the person. */
  waitedMs: number;
}

/**
 * The calls of a batch from their plan to their answer. A call is in the queue from its plan, or from the
 * decision about it, until it runs. The time of its run pauses while it waits for the person.
 */
class OtelBatch implements BatchTrace {
  readonly #settings: BatchSettings;
  readonly #conversation: string;
  readonly #parent: Context;
  readonly #arrivedAt: TimeInput = systemClock.now();
  readonly #calls = new Map<string, OpenCall>();

  constructor({ conversation, parent }: TracedBatch, settings: BatchSettings) {
    this.#settings = settings;
    this.#conversation = conversation;
    this.#parent = parent === undefined ? context.active() : propagation.extract(context.active(), parent);
  }

  planned(call: TracedCall): void {
    const { callId, toolName } = call;
    // If several calls have the same id, all but the first are answered immediately.
    if (this.#calls.has(callId)) return;
    const outer = trace.getSpan(this.#parent);
    const { tracer } = this.#settings;
    const options = { startTime: this.#arrivedAt, attributes: this.#attributesOf(call) };
    const isOurs = outer === undefined || !isSpanOf(call, outer);
    const span = isOurs ? tracer.startSpan(`${OPERATION} ${toolName}`, options, this.#parent) : outer;
    const open: OpenCall = {
      call,
      span,
      isOurs,
      context: isOurs ? trace.setSpan(this.#parent, span) : this.#parent,
      isRecorded: span.isRecording(),
      queue: undefined,
      approval: undefined,
      run: undefined,
      inside: undefined,
      waitedMs: 0,
    };
    this.#calls.set(callId, open);
    if (call.disposition !== 'pre_resolved') open.queue = this.#open('queue', open);
  }

  approvalRequested(callId: string, earlier?: EarlierDecision): void {
    const open = this.#calls.get(callId);
    if (open === undefined || open.approval !== undefined) return;
    // The wait in the queue begins with the decision, not before the question.
    open.queue?.span?.end();
    open.queue = undefined;
    open.approval = earlier === undefined ? this.#open('approval', open) : this.#waited(earlier);
  }

  approvalDecided(callId: string, approved: boolean): void {
    const open = this.#calls.get(callId);
    if (open?.approval === undefined) return;
    (open.approval.span ?? open.span).setAttribute('toolexec.approved', approved);
    const ms = this.#end('approval', open.approval, open);
    open.approval = undefined;
    if (open.run !== undefined) open.waitedMs += ms;
    else if (approved) open.queue = this.#open('queue', open);
  }

  started(callId: string): <T>(run: () => T) => T {
    const open = this.#calls.get(callId);
    if (open === undefined) return (run) => run();
    if (open.queue !== undefined) this.#end('queue', open.queue, open);
    open.queue = undefined;
    open.run = this.#open('run', open);
    const { span } = open.run;
    const inside = span === undefined ? open.context : trace.setSpan(open.context, span);
    open.inside = inside;
    return (run) => context.with(inside, run);
  }

  completed(callId: string, result: ToolResult): void {
    const open = this.#calls.get(callId);
    if (open === undefined) return;
    this.#calls.delete(callId);
    const { error, metadata } = result;
    const failure = error === undefined ? {} : { 'error.type': error.code };
    open.queue?.span?.end();
    open.approval?.span?.end();
    if (open.run !== undefined) {
      if (error !== undefined && open.run.span !== undefined) fail(open.run.span, result, this.#settings);
      open.run.span?.end();
      const ms = systemClock.monotonic() - open.run.since - open.waitedMs;
      this.#settings.record('run', ms, { ...this.#labelsOf(open), ...failure });
    }
    const { span, isOurs } = open;
    // A framework reports a failure that the model reads as a success, so its span is marked too.
    if (metadata.replayed === true) span.setAttribute('toolexec.replayed', true);
    if (error !== undefined) fail(span, result, this.#settings);
    if (!isOurs) return;
    if (this.#settings.recordArguments) span.setAttribute('gen_ai.tool.call.arguments', open.call.args());
    if (this.#settings.recordResults) span.setAttribute('gen_ai.tool.call.result', result.output);
    span.end();
  }

  headers(callId: string): Readonly<Record<string, string>> {
    const open = this.#calls.get(callId);
    const headers: Record<string, string> = {};
    if (open !== undefined) propagation.inject(open.inside ?? open.context, headers);
    return headers;
  }

  #attributesOf({ callId, toolName, risk, description }: TracedCall): Attributes {
    return {
      'gen_ai.operation.name': OPERATION,
      'gen_ai.tool.name': toolName,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': callId,
      'gen_ai.conversation.id': this.#conversation,
      ...(description === undefined ? {} : { 'gen_ai.tool.description': description }),
      'toolexec.risk': risk,
    };
  }

  #labelsOf({ call }: OpenCall): Attributes {
    return { 'gen_ai.operation.name': OPERATION, 'gen_ai.tool.name': call.toolName };
  }

  #open(kind: Kind, { call, context: own, isRecorded }: OpenCall): Open {
    const since = systemClock.monotonic();
    if (!isRecorded) return { span: undefined, since };
    const attributes = { 'gen_ai.tool.name': call.toolName, 'gen_ai.tool.call.id': call.callId };
    return { span: this.#settings.tracer.startSpan(`toolexec.${kind}`, { attributes }, own), since };
  }

  /** A wait that is over has no span: the span would begin before that of its call. */
  #waited({ askedAt, decidedAt }: EarlierDecision): Open {
    return { span: undefined, since: systemClock.monotonic() - Math.max(0, decidedAt - askedAt) };
  }

  #end(kind: Kind, { span, since }: Open, open: OpenCall): number {
    span?.end();
    const ms = systemClock.monotonic() - since;
    this.#settings.record(kind, ms, this.#labelsOf(open));
    return ms;
  }
}

/** The message of an error may repeat arguments and output, so without consent only its code is recorded. */
function fail(span: Span, { error }: ToolResult, { recordResults }: BatchSettings): void {
  if (error === undefined) return;
  span.setAttribute('error.type', error.code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: recordResults ? error.message : error.code });
}

/**
 * Whether a framework has created the span of this call. The span of another tool, which runs our calls, is only their
 * parent. The interface of spans has no name, but the SDK's spans do.
 */
function isSpanOf({ callId, toolName }: TracedCall, span: Span): boolean {
  const { name, attributes } = span as { readonly name?: unknown; readonly attributes?: unknown };
  const of = (key: string): unknown =>
    isObject(attributes) ? Reflect.get(attributes as object, key) : undefined;
  const title = typeof name === 'string' && name.startsWith(`${OPERATION} `) ? name : undefined;
  if (title === undefined && of('gen_ai.operation.name') !== OPERATION) return false;
  if (of('gen_ai.tool.call.id') === callId) return true;
  const tool = of('gen_ai.tool.name') ?? title?.slice(OPERATION.length + 1);
  // Frameworks allow fewer characters in a name, and some put the name of a server before it.
  return typeof tool !== 'string' || plain(tool).endsWith(plain(toolName));
}

const plain = (name: string): string => name.replace(/[^a-zA-Z0-9]/g, '_');
