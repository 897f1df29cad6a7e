import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ErrorCode } from '../errors/catalogue.js';
import type { ToolError } from '../errors/tool-error.js';
import type { Awaitable, ContentBlock } from './call.js';
import type { ToolContext } from './context.js';
import type { Effect, EffectKind, Risk } from './effect.js';
import type { FileChange } from './files.js';
import type { JsonObject, JsonSchema, JsonValue } from './json.js';

export type ToolCategory =
  | 'file'
  | 'execution'
  | 'search'
  | 'web'
  | 'interaction'
  | 'agent'
  | 'external'
  | 'custom';

/** Which configured timeout holds for a tool that names none of its own (F003). */
export type TimeoutClass = 'default' | 'files' | 'commands' | 'external';

/** What a tool gives back besides a plain text or value. @typeParam O what its output schema accepts */
export interface ToolOutput<O = unknown> {
  /** Default: `structured` as JSON, or `content` in words. */
  readonly text?: string;
  /** Pictures, sounds, documents and more texts, in order. */
  readonly content?: readonly ContentBlock[];
  readonly metadata?: JsonObject;
  /** A JSON value; with an output schema, what that accepts. */
  readonly structured?: unknown extends O ? JsonValue | object : O;
  /** False: the tool keeps to the limit itself, and the engine must not cut text or message (default true). */
  readonly truncatable?: boolean;
  /** The tool has left out some of its output itself: `truncated` of the result says so. Default false. */
  readonly truncated?: boolean;
  /** Where all of the output can be read, as `ctx.processes` has said it. */
  readonly outputRef?: string;
  /** It ran, and the answer is a failure. Without a code: `execution_failed`. */
  readonly error?: {
    /** For the model. */
    readonly message: string;
    readonly code?: ErrorCode;
    /** For the developer or the person; a model never sees it. */
    readonly hint?: string;
    readonly details?: JsonObject;
  };
}

/**
 * What `execute` may return. Without an output schema: a text, any JSON value, or an output. With one: the value itself,
 * unless it has a part that an output has (then as `{ structured: value }`), an output with `structured`, or a failure.
 */
export type ToolReturn<O = unknown> = unknown extends O
  ? string | number | boolean | null | object
  :
      | PlainValue<O>
      | (ToolOutput<O> & { readonly structured: O })
      | (ToolOutput<O> & { readonly error: NonNullable<ToolOutput['error']> });

type PlainValue<O> = O extends object
  ? keyof O & ('text' | 'content' | 'structured' | 'error') extends never
    ? O
    : never
  : O;

export interface ProbeContext {
  readonly callId: string;
  readonly cwd: string;
  readonly files: ToolContext['files'];
  readonly signal: AbortSignal;
  /** What was noted of the call before its effect, each with its `kind`: `intent`, `process`, `approval`. */
  readonly notes: readonly JsonObject[];
  /**
   * What the files say of the last change that the call was about to make to them (D142, D143). `not_applied` also
   * where it never came to one.
   */
  readonly lastChange: 'applied' | 'not_applied' | 'unknown';
}

/** What a tool may look at to say what it would change. Files can be looked at, not changed. */
export interface PreviewContext {
  readonly cwd: string;
  readonly files: ToolContext['files'];
  readonly signal: AbortSignal;
}

/** What a tool's declaration may go by. Bytes. */
export interface DeclaredLimits {
  readonly maxApplyPatchBytes: number;
}

export interface EffectScope {
  readonly cwd: string;
  /** Left out: the tool's own hold. */
  readonly limits?: DeclaredLimits;
}

/** How a tool is declared; `defineTool` makes it a `Tool`. */
export interface ToolSpec<A, O = unknown> {
  /** `^[A-Za-z0-9_-]{1,64}$` */
  readonly name: string;
  /** Other names it answers to; a rule about the tool holds for all of them. */
  readonly aliases?: readonly string[];
  /** For people: what a list of tools shows instead of the name. */
  readonly title?: string;
  readonly description: string;
  /** A Standard Schema (zod, valibot, arktype) or a JSON Schema. */
  readonly input: StandardSchemaV1<unknown, A> | JsonSchema;
  /**
   * Pure: in the tool's own words, what is wrong with arguments that `input` refuses. Undefined, or left out: as the
   * schema says it.
   */
  readonly explainArgs?: (args: JsonObject) => string | undefined;
  /** A Standard Schema or a JSON Schema: what `structured` of a success is. */
  readonly output?: StandardSchemaV1<O, unknown> | JsonSchema;
  /** Pure; called once per call, at planning. Default: `[{ kind: 'unknown' }]`; `() => []` touches nothing and runs unasked. */
  readonly effects?: (args: A, at: EffectScope) => readonly Effect[];
  /**
   * The only kinds that `effects` may give; any other is answered with `tool_panicked`, and nothing has run. What
   * `definitions()` tells of side effects comes from here. Default: nothing is told, and every kind is accepted.
   */
  readonly touches?: readonly EffectKind[];
  readonly requiresApproval?: boolean | ((args: A) => boolean);
  /**
   * `after`: of a call that only runs commands the person is asked when these have ended, with their changes in hand, and
   * nothing of them is real before. Only where the OS sandbox is required and the network off; else, and by default,
   * `before`.
   */
  readonly approval?: 'before' | 'after' | ((args: A) => 'before' | 'after');
  /** Default: from the effects. */
  readonly risk?: Risk | ((args: A) => Risk);
  /** Pure, no I/O. Default: from the effects. Secrets are redacted, more than 200 characters are cut. */
  readonly summarize?: (args: A) => string;
  /** Beats every configured timeout; a function may answer undefined. */
  readonly timeoutMs?: number | ((args: A) => number | undefined);
  /** The tool's own default: beaten by a class that the configuration names explicitly (F003). */
  readonly defaultTimeoutMs?: number;
  /** Default: `files` for category file and search, `commands` for execution, `external` for external. */
  readonly timeoutClass?: TimeoutClass;
  readonly category?: ToolCategory;
  /** May be run again after a crash, if the policy allows; default false. */
  readonly idempotent?: boolean;
  /** Only for tools whose effects are all `read`. */
  readonly cacheable?: boolean;
  /**
   * All that it does it does through its context: files, search and commands. `executor.preview` tries it; other tools
   * answer there as in a dry run. Default false.
   */
  readonly contained?: boolean;
  /**
   * The tool is a program: all that a call does one process does, which `processes.runProgram` runs. `trusted`: what it
   * declares is believed. Whether it runs in the OS sandbox the executor's `externalTools` says; there its changes are kept
   * apart until it has ended, and a preview tries it.
   */
  readonly program?: { readonly trusted: boolean };
  /** It may start a background shell: what that changes is real at once. Default: it may. */
  readonly background?: boolean | ((args: A) => boolean);
  /** Replaces the limit on serialised arguments for this tool (F019). Bytes. */
  readonly maxArgsBytes?: number | ((limits: DeclaredLimits) => number);
  execute(args: A, ctx: ToolContext): Awaitable<ToolReturn<O>>;
  /**
   * The changes to files that `execute` would make now, for the person who is asked. A throw says that it would fail,
   * and why. At most 5 s. Left out: the person is shown the arguments.
   */
  previewChanges?(args: A, ctx: PreviewContext): Awaitable<readonly FileChange[]>;
  /** After a crash: did it happen? Files can be looked at, not changed. */
  probe?(args: A, ctx: ProbeContext): Awaitable<'applied' | 'not_applied' | 'unknown'>;
}

/**
 * A declared tool, as `defineTool` returns it: normalized and frozen. Its arguments are erased to `unknown`; only what
 * its own schema has accepted is ever handed to it, and only the engine calls `execute`.
 */
export interface Tool extends ToolSpec<unknown> {
  readonly aliases: readonly string[];
  readonly category: ToolCategory;
  readonly timeoutClass: TimeoutClass;
}

/** A tool that remembers its argument type. */
export interface TypedTool<A> extends Tool {
  /** Never there at run time; carries the type. */
  readonly '~args'?: A;
}

/** What a tool can do at worst, in the terms of MCP's tool annotations. */
export interface ToolAnnotations {
  /** It changes nothing. */
  readonly readOnlyHint: boolean;
  /** It may replace or remove what is there. */
  readonly destructiveHint: boolean;
  /** The same call twice changes no more than once. */
  readonly idempotentHint: boolean;
  /** It may reach beyond this machine. */
  readonly openWorldHint: boolean;
}

/** What a model, or a client that offers the tool to one, is shown. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** What `structured` of a result follows; only where the tool has an output schema. */
  readonly outputSchema?: JsonSchema;
  /** Only for a tool that says what it touches. */
  readonly annotations?: ToolAnnotations;
}

/** Tools by name. Lookups also take aliases. Safe under concurrent use: every operation is one step. */
export interface Registry {
  /** @throws ToolError `duplicate_tool`, `config_invalid`; on a throw nothing was registered. */
  register(tool: Tool): void;
  /** @throws ToolError `unknown_tool` with the nearest name. */
  get(name: string): Tool;
  find(name: string): Tool | undefined;
  has(name: string): boolean;
  /** Sorted by name. */
  list(): readonly Tool[];
  /** What a model is shown, sorted by name; the same bytes every time. */
  definitions(): readonly ToolDefinition[];
  /** Grows with every registration; lets readers keep what they derived. */
  readonly revision: number;
  /** Why there is no tool of that name, where more is known than that. */
  whyMissing?(name: string): ToolError | undefined;
}
