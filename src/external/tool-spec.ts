import type { ToolContext } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { type ErrorCode, isErrorCode } from '../errors/catalogue.js';
import { isToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import type { Checker } from '../schema/checker.js';
import { compileOutput } from '../schema/compile-schema.js';
import { ANY_OBJECT } from './describe-program.js';
import type { DescribedTool } from './described-tool.js';
import { effectsFor } from './effect-templates.js';
import type { MetricsBook } from './metrics.js';
import type { CallRunner, ExternalCall } from './run-tool.js';

export interface SpecParts {
  readonly run: CallRunner;
  readonly metrics: MetricsBook;
  readonly maxOutputBytes: number;
  /** Aborts when the service is closed. */
  readonly closing: AbortSignal;
  /** Throws where the file is not the program that was described. */
  readonly verify: (tool: DescribedTool) => Promise<void> | void;
  /** Held until the call has ended. */
  readonly watch: (running: Promise<unknown>) => void;
}

/** A described program as a tool like any other: what it may do is said here, and the engine does the rest. */
export function toolSpecOf(tool: DescribedTool, parts: SpecParts): ToolSpec<JsonObject> {
  const { name, path, trusted, description, changed } = tool;
  const execute = (args: JsonObject, ctx: ToolContext): Promise<ToolOutput> =>
    execution(tool, outputOf, args, ctx, parts);
  let checker: Checker | undefined;
  const outputOf = (): Checker | undefined => {
    if (description.status !== 'ready') return undefined;
    checker ??= compileOutput(description.document.outputSchema, name, { when: 'first_use' });
    return checker;
  };
  const base = {
    name,
    category: 'external',
    execute,
    ...(changed.length === 0
      ? {}
      : {
          requiresApproval: true,
          summarize: () =>
            `run ${name} (${path}), whose ${changed.join(' and ')} changed since it was approved`,
        }),
  } as const;
  if (description.status !== 'ready') {
    return { ...base, description: `The program ${path}. It does not describe itself.`, input: ANY_OBJECT };
  }
  const { document } = description;
  const { effects, timeoutMs } = document;
  return {
    ...base,
    ...(document.title === undefined ? {} : { title: document.title }),
    description: document.description === '' ? `The program ${path}.` : document.description,
    input: document.inputSchema,
    output: document.outputSchema,
    ...(timeoutMs === undefined ? {} : { defaultTimeoutMs: timeoutMs }),
    ...(trusted && document.idempotent ? { idempotent: true } : {}),
    ...(trusted && effects !== undefined
      ? {
          effects: (args: JsonObject) => effectsFor(effects, args),
          touches: [...new Set(effects.map(({ kind }) => kind))],
        }
      : {}),
  };
}

async function execution(
  tool: DescribedTool,
  outputOf: () => Checker | undefined,
  args: JsonObject,
  ctx: ToolContext,
  parts: SpecParts,
): Promise<ToolOutput> {
  const signal = AbortSignal.any([ctx.signal, parts.closing]);
  const call = (): ExternalCall => ({
    name: tool.name,
    path: tool.path,
    args,
    ctx,
    signal,
    env: {},
    maxOutputBytes: parts.maxOutputBytes,
    output: outputOf(),
  });
  const running = measured(tool.name, parts.metrics, async () => {
    await parts.verify(tool);
    return parts.run(call());
  });
  parts.watch(running);
  return running;
}

/** Counts an attempt, whatever comes of it. */
async function measured(
  name: string,
  metrics: MetricsBook,
  run: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  const at = systemClock.now();
  const start = systemClock.monotonic();
  const record = (failure?: ErrorCode): void =>
    metrics.record(name, at, systemClock.monotonic() - start, failure);
  try {
    const output = await run();
    record(output.error === undefined ? undefined : (output.error.code ?? 'execution_failed'));
    return output;
  } catch (error) {
    record(isToolError(error) && isErrorCode(error.code) ? error.code : 'execution_failed');
    throw error;
  }
}
