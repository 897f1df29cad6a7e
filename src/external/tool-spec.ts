import type { ToolContext } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import type { Checker } from '../schema/checker.js';
import { compileOutput } from '../schema/compile-schema.js';
import { ANY_OBJECT } from './describe-program.js';
import type { DescribedTool } from './described-tool.js';
import { effectsFor } from './effect-templates.js';
import { timed } from './measure-calls.js';
import type { CallRunner } from './run-tool.js';
import type { Span } from './trace-context.js';

export interface SpecParts {
  readonly run: CallRunner;
  /** Begins the span of a call. */
  readonly trace: (tool: string, callId: string) => Span | undefined;
  readonly maxOutputBytes: number;
  /** Time limits by tool. They override the tool's own. */
  readonly timeouts: Readonly<Record<string, number>>;
  /** Aborts when the service is closed. */
  readonly closing: AbortSignal;
  /** Keeps track of a call until it has ended. */
  readonly watch: (running: Promise<unknown>) => void;
}

/**
 * Turns a described program into a tool spec. It declares what the tool may do; the executor does the rest.
 */
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
  const limitMs = Object.hasOwn(parts.timeouts, name) ? parts.timeouts[name] : undefined;
  const base = {
    name,
    category: 'external',
    program: { trusted },
    background: false,
    execute,
    ...(limitMs === undefined ? {} : { timeoutMs: limitMs }),
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
  let signal: AbortSignal | undefined;
  const span = parts.trace(tool.name, ctx.callId);
  const running = traced(span, () =>
    parts.run({
      name: tool.name,
      path: tool.path,
      tool,
      print: undefined,
      args,
      ctx,
      get signal() {
        signal ??= AbortSignal.any([ctx.signal, parts.closing]);
        return signal;
      },
      trace: span?.context,
      maxOutputBytes: parts.maxOutputBytes,
      output: outputOf,
    }),
  );
  parts.watch(running);
  return running;
}

/** The span ends with the call, successful or not. */
function traced(span: Span | undefined, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
  if (span === undefined) return run();
  return timed(run, (durationMs, code) => span.end(durationMs, code));
}
