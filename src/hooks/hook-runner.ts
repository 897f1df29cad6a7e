import { relative, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { onFirstUse } from '../base/on-first-use.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import type { HookEvent, HookOptions } from './hook-options.js';
import { type HookOutcome, NOTHING, together } from './hook-outcome.js';

export interface HooksWorld {
  readonly cwd: string;
  readonly environment: () => Readonly<Record<string, string>>;
  /** All names of a tool, starting with its main name. */
  readonly namesOf: (name: string) => readonly string[];
  /** Reports a failure that has no effect. */
  readonly onFailure: (event: HookEvent, problem: string) => void;
}

/** The place of an event in a conversation. */
export interface HookPlace {
  readonly conversation: string;
  /** Type of the sub-agent. Absent for the main conversation. */
  readonly agent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HookedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonObject;
}

const runHooks = onFirstUse(async () => (await import('./run-hooks.js')).runHooks);

/** Runs the hooks of events, with documents in the format of those agents. */
export class HookRunner {
  readonly #options: HookOptions;
  readonly #world: HooksWorld;

  constructor(options: HookOptions, world: HooksWorld) {
    this.#options = options;
    this.#world = world;
  }

  has(...events: readonly HookEvent[]): boolean {
    return events.some((event) => (this.#options[event] ?? []).length > 0);
  }

  /**
   * Runs the hooks of an event about a call. Several events under the names of different agents are one event
   * here.
   */
  async aboutCall(
    events: readonly HookEvent[],
    call: HookedCall,
    place: HookPlace,
    more: JsonObject = {},
  ): Promise<HookOutcome> {
    const names = this.#world.namesOf(call.toolName);
    const document = { ...this.toolFields(call), tool_use_id: call.callId, ...more };
    let outcome = NOTHING;
    for (const event of events) {
      if (!this.has(event)) continue;
      outcome = together(outcome, await this.run(event, names, document, place));
    }
    return outcome;
  }

  /** @param names the names that are compared with matchers */
  async run(
    event: HookEvent,
    names: readonly string[],
    fields: JsonObject,
    { conversation, agent, signal }: HookPlace,
  ): Promise<HookOutcome> {
    const { cwd, environment, onFailure } = this.#world;
    return runHooks({
      event,
      groups: this.#options[event] ?? [],
      names,
      document: {
        session_id: conversation,
        transcript_path: '',
        permission_mode: 'default',
        ...(agent === undefined ? {} : { agent_id: conversation, agent_type: agent }),
        ...fields,
      },
      cwd,
      env: { ...environment(), CLAUDE_PROJECT_DIR: cwd, GEMINI_PROJECT_DIR: cwd },
      signal,
      onFailure: (problem) => onFailure(event, problem),
    });
  }

  /** The agents' names for tools and files, because their hooks look for those. */
  toolFields({ toolName, args }: Pick<HookedCall, 'toolName' | 'args'>): JsonObject {
    const names = this.#world.namesOf(toolName);
    return {
      tool_name: names.find((one) => /^[A-Z]/.test(one)) ?? toolName,
      tool_input: withFile(args, this.#world.cwd),
    };
  }

  /** The arguments with the changes of hooks, which know our `path` as the absolute `file_path`. */
  merged(args: JsonObject, { file_path: file, ...input }: JsonObject): JsonObject {
    const merged = { ...args, ...input };
    if (file === undefined) return merged;
    if (args.file_path !== undefined || args.path === undefined) return { ...merged, file_path: file };
    if (input.path !== undefined) return merged;
    const { cwd } = this.#world;
    return {
      ...merged,
      path: typeof file === 'string' && covers(cwd, file) ? relative(cwd, file) || '.' : file,
    };
  }
}

/** A tool that works on a file also gets its absolute path. */
function withFile(args: JsonObject, cwd: string): JsonObject {
  const { path, file_path: file } = args;
  return typeof path === 'string' && file === undefined ? { ...args, file_path: resolve(cwd, path) } : args;
}

/** The part of a document about a result. */
export function responseOf({ success, output, error, executionTimeMs }: ToolResult): JsonObject {
  return {
    tool_response: { success, output },
    duration_ms: executionTimeMs,
    ...(error === undefined ? {} : { error: error.message }),
  };
}

export function argsOf({ args }: ToolCall): JsonObject {
  return typeof args === 'object' && args !== null ? (args as JsonObject) : {};
}

/** The calls have run, so a hook's words about them are for the model. */
export function linesOf({ decision, reason, context }: HookOutcome): readonly string[] {
  return [...(decision === 'deny' ? [reason] : []), ...context];
}

export function withLines(result: ToolResult, lines: readonly string[]): ToolResult {
  if (lines.length === 0) return result;
  const text = lines.map((line) => `[hook] ${line}`).join('\n');
  return { ...result, output: result.output === '' ? text : `${result.output}\n${text}` };
}
