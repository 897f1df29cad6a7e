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

/** The configured timeout that applies if a tool names none (F003). */
export type TimeoutClass = 'default' | 'files' | 'commands' | 'external';

/**
 * The result of a tool that returns more than a text or a value. @typeParam O the type of its output schema
 */
export interface ToolOutput<O = unknown> {
  /** Default: `structured` as JSON, or `content` in words. */
  readonly text?: string;
  /** Images, audio, documents and further texts, in order. */
  readonly content?: readonly ContentBlock[];
  readonly metadata?: JsonObject;
  /** A JSON value. With an output schema, it must match the schema. */
  readonly structured?: unknown extends O ? JsonValue | object : O;
  /** False: the tool limits its output itself, so text and message are not cut. Default true. */
  readonly truncatable?: boolean;
  /** The tool left out a part of its output; `truncated` of the result is set. Default false. */
  readonly truncated?: boolean;
  /** The URI of the full output, from `ctx.processes`. */
  readonly outputRef?: string;
  /** The tool ran, and its answer is a failure. Without a code: `execution_failed`. */
  readonly error?: {
    /** For the model. */
    readonly message: string;
    readonly code?: ErrorCode;
    /** For the developer or the person. Never sent to a model. */
    readonly hint?: string;
    readonly details?: JsonObject;
  };
}

/**
 * The possible return values of `execute`. Without an output schema: a text, any JSON value, or a
 * `ToolOutput`. With one: the value itself, unless it has a property of `ToolOutput` (then `{ structured:
 * value }`), a `ToolOutput` with `structured`, or a failure.
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
  /** Notes about the call from before its effect, each with its `kind`: `intent`, `process`, `approval`. */
  readonly notes: readonly JsonObject[];
  /**
   * The state of the files after the call's last intended change (D142, D143). `not_applied` also if it never
   * started one.
   */
  readonly lastChange: 'applied' | 'not_applied' | 'unknown';
}

/** A tool's access for predicting its changes: it can read files and change none. */
export interface PreviewContext {
  readonly cwd: string;
  readonly files: ToolContext['files'];
  readonly signal: AbortSignal;
}

/** Limits that a tool's declaration can depend on, in bytes. */
export interface DeclaredLimits {
  readonly maxApplyPatchBytes: number;
}

export interface EffectScope {
  readonly cwd: string;
  /** If absent: the tool's own limits apply. */
  readonly limits?: DeclaredLimits;
}

/** When the person is asked about a call that runs commands. */
export type ApprovalTime = 'before' | 'after' | 'after_online';

/** The declaration of a tool. `defineTool` turns it into a `Tool`. */
export interface ToolSpec<A, O = unknown> {
  /** `^[A-Za-z0-9_-]{1,64}$` */
  readonly name: string;
  /** Other names of the tool. A rule for one name applies to all. */
  readonly aliases?: readonly string[];
  /** For people: a list of tools shows it instead of the name. */
  readonly title?: string;
  readonly description: string;
  /** A Standard Schema (zod, valibot, arktype) or a JSON Schema. */
  readonly input: StandardSchemaV1<unknown, A> | JsonSchema;
  /**
   * Pure. Explains in the tool's own words why `input` rejects the arguments. Undefined or left out: the
   * schema's message is used.
   */
  readonly explainArgs?: (args: JsonObject) => string | undefined;
  /** A Standard Schema or a JSON Schema for `structured` of a success. */
  readonly output?: StandardSchemaV1<O, unknown> | JsonSchema;
  /**
   * Pure; called once per call, at planning. Default: `[{ kind: 'unknown' }]`. `() => []` touches nothing and
   * runs without a question.
   */
  readonly effects?: (args: A, at: EffectScope) => readonly Effect[];
  /**
   * The only kinds that `effects` may return. Any other kind is answered `tool_panicked`, and nothing has
   * run. The annotations in `definitions()` are derived from it. Default: every kind is accepted, and there
   * are no annotations.
   */
  readonly touches?: readonly EffectKind[];
  readonly requiresApproval?: boolean | ((args: A) => boolean);
  /**
   * `after`: a call that only runs commands is asked about when they have ended, with their changes, and
   * nothing is committed before. Only if the OS sandbox is required and the network is off; otherwise, and by
   * default, `before`. `after_online`: the same with the network on, although its effects there cannot be dropped.
   */
  readonly approval?: ApprovalTime | ((args: A) => ApprovalTime);
  /** Default: derived from the effects. */
  readonly risk?: Risk | ((args: A) => Risk);
  /**
   * Pure, without I/O. Default: derived from the effects. Secrets are redacted; the text is cut after 200
   * characters.
   */
  readonly summarize?: (args: A) => string;
  /** Overrides every configured timeout. A function may return undefined. */
  readonly timeoutMs?: number | ((args: A) => number | undefined);
  /** The tool's default. A configured timeout for its class overrides it (F003). */
  readonly defaultTimeoutMs?: number;
  /** Default: `files` for category file and search, `commands` for execution, `external` for external. */
  readonly timeoutClass?: TimeoutClass;
  readonly category?: ToolCategory;
  /** The call may run again after a crash, if the policy allows it. Default false. */
  readonly idempotent?: boolean;
  /**
   * Only for tools whose effects are all `read`. A result of a call whose effects are all `fetch` is kept for its
   * `metadata.fresh_seconds`, and needs no more.
   */
  readonly cacheable?: boolean;
  /**
   * The tool acts only through its context: files, search and commands. `executor.preview` can run it; other
   * tools answer there as in a dry run. Default false.
   */
  readonly contained?: boolean;
  /**
   * The tool is a program: each call is one process, which `processes.runProgram` runs. `trusted`: its
   * declared effects are believed. The executor's `externalTools` decides whether it runs in the OS sandbox.
   * There it runs in a transaction, and a preview can run it.
   */
  readonly program?: { readonly trusted: boolean };
  /**
   * Hosts without a public address that `ctx.http` may reach for this tool: `127.0.0.1:8080`,
   * `*.corp.example`. They come from the host program's configuration, never from a model. A call must still
   * declare its addresses. Default: none.
   */
  readonly privateHosts?: readonly string[];
  /** The tool may start a background shell, whose changes take effect at once. Default true. */
  readonly background?: boolean | ((args: A) => boolean);
  /** Overrides the size limit of serialized arguments for this tool (F019). Bytes. */
  readonly maxArgsBytes?: number | ((limits: DeclaredLimits) => number);
  execute(args: A, ctx: ToolContext): Awaitable<ToolReturn<O>>;
  /**
   * The file changes that `execute` would make now, shown in the question. A throw means that it would fail,
   * and why. At most 5 s. If absent: the question shows the arguments.
   */
  previewChanges?(args: A, ctx: PreviewContext): Awaitable<readonly FileChange[]>;
  /** After a crash: did the effect happen? Files can be read, not changed. */
  probe?(args: A, ctx: ProbeContext): Awaitable<'applied' | 'not_applied' | 'unknown'>;
}

/**
 * A declared tool from `defineTool`: normalized and frozen. The type of its arguments is `unknown`. It only
 * receives arguments that its schema accepts, and only the executor calls `execute`.
 */
export interface Tool extends ToolSpec<unknown> {
  readonly aliases: readonly string[];
  readonly category: ToolCategory;
  readonly timeoutClass: TimeoutClass;
}

/** A tool that keeps its argument type. */
export interface TypedTool<A> extends Tool {
  /** Absent at run time; it carries the type. */
  readonly '~args'?: A;
}

/** The worst effects of a tool, in the terms of MCP's tool annotations. */
export interface ToolAnnotations {
  /** It changes nothing. */
  readonly readOnlyHint: boolean;
  /** It may replace or remove existing data. */
  readonly destructiveHint: boolean;
  /** Repeating the call has no further effect. */
  readonly idempotentHint: boolean;
  /** It may reach beyond this machine. */
  readonly openWorldHint: boolean;
}

/** The description of a tool for a model, or for a client that passes it to one. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The schema of `structured` in a result. Only for a tool with an output schema. */
  readonly outputSchema?: JsonSchema;
  /** Only for a tool with `touches`. */
  readonly annotations?: ToolAnnotations;
}

/** Tools by name. Lookups accept aliases. Safe under concurrent use: every operation is one step. */
export interface Registry {
  /** @throws ToolError `duplicate_tool`, `config_invalid`; then nothing was registered. */
  register(tool: Tool): void;
  /** @throws ToolError `unknown_tool` with the nearest name. */
  get(name: string): Tool;
  find(name: string): Tool | undefined;
  has(name: string): boolean;
  /** Sorted by name. */
  list(): readonly Tool[];
  /** The definitions for a model, sorted by name; the same bytes every time. */
  definitions(): readonly ToolDefinition[];
  /** Increases with every registration, so readers know when a derived value is outdated. */
  readonly revision: number;
  /** Explains why a tool is missing, if the reason is known. */
  whyMissing?(name: string): ToolError | undefined;
  /** Calls back after each change of the tools. Returns the function that removes the callback. */
  onChange?(listener: () => void): () => void;
}
