import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  isBoolean,
  isFilledText,
  isFunction,
  isObject,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { Awaitable } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import type { Tool } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';

/** A batch that is killed again and again while it runs. */
export interface CrashTrial {
  /**
   * The module with the tools: an absolute path or a `file:` URL. Its default export (or `tools`, or `tool`)
   * is a tool, a list of tools, or a function that returns them. Every killed process imports it, and so does
   * this one for recovery. It may also export `calls`, `prepare`, `observe` and `knowable` as defaults.
   */
  readonly tools: string | URL;
  /** One batch: the calls in order. A missing id is made up. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly args: JsonObject }[];
  /** Prepares the root directory before each round. */
  readonly prepare?: (root: string) => Awaitable<void>;
  /**
   * How many times the effect of each call has happened, by call id: 0 or 1 if correct, a fraction if it is
   * half done. Calls that are not named are not checked.
   */
  readonly observe?: (root: string) => Awaitable<Readonly<Record<string, number>>>;
  /**
   * Calls whose outcome must be known after every crash, because their tool has `probe`: an `outcome_unknown`
   * is then a problem. Default: none.
   */
  readonly knowable?: readonly string[];
  /** Whether calls without conflicts run side by side. Default false. */
  readonly parallel?: boolean;
  /**
   * The number of kills at random times, in addition to the two at each journal step (before and after it).
   * Default 20.
   */
  readonly randomKills?: number;
  /** The maximum number of kills at journal steps, spread evenly. Default: all. */
  readonly stepKills?: number;
  /** Makes the random times reproducible. Default: new ones each time; the verdict names the seed. */
  readonly seed?: number;
  /** Called after every round, for progress. */
  readonly onRound?: (done: number, of: number) => void;
  /** Ends the trial; the verdict covers the finished rounds. */
  readonly signal?: AbortSignal;
}

export type CrashProblemKind =
  /** A call has no result after recovery. */
  | 'no_result'
  /** A later delivery got another answer. */
  | 'changed_result'
  /** An effect happened more than once. */
  | 'ran_twice'
  /** An effect is half done. */
  | 'half_done'
  /** The result does not match the effect. */
  | 'untrue_result'
  /** `outcome_unknown` although it could be known. */
  | 'needless_unknown'
  /** A record that the journal had acknowledged is gone. */
  | 'lost_record'
  /** The journal does not verify. */
  | 'broken_journal'
  /** A process failed by itself, or hung. */
  | 'broken_round';

export interface CrashProblem {
  readonly kind: CrashProblemKind;
  /** The place of the kill: `before step 3 (claim)`, `after 4.2 ms`. */
  readonly killed: string;
  readonly callId?: string;
  readonly message: string;
}

export interface CrashVerdict {
  /** No problem was found, and at least one process was killed. */
  readonly passed: boolean;
  /** Processes that were killed while they ran the batch. */
  readonly kills: number;
  /** All rounds; in some the batch ended before the kill. */
  readonly rounds: number;
  /** The number of answers after a crash: `ok`, or the error code. */
  readonly answers: Readonly<Record<string, number>>;
  readonly problems: readonly CrashProblem[];
  readonly seed: number;
  /** Several lines for people. */
  readonly report: string;
}

/**
 * The `file:` URL of a module. @throws ToolError `config_invalid` for anything but a file URL or an absolute
 * path.
 */
export function moduleUrl(module: string | URL): string {
  if (module instanceof URL) return module.href;
  if (module.startsWith('file:')) return module;
  if (isAbsolute(module)) return pathToFileURL(module).href;
  throw new ToolError(
    'config_invalid',
    `Cannot find the tools' module "${module}" from here: give an absolute path or a file: URL.`,
  );
}

/** The exports of a module under test. */
interface TrialModule extends Partial<Pick<CrashTrial, 'calls' | 'prepare' | 'observe' | 'knowable'>> {
  readonly tools: readonly Tool[];
}

/**
 * Imports a module and returns its tools, exported by default, as `tools` or as `tool` (one, several, or a
 * function), and its other trial settings.
 * @throws ToolError `config_invalid` if it cannot be imported or exports no tools.
 */
export async function loadTrialModule(url: string): Promise<TrialModule> {
  const { default: main, tools, tool, ...rest } = await importModule(url);
  const named = main ?? tools ?? tool;
  const given: unknown = typeof named === 'function' ? await named() : named;
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || !list.every(isTool)) {
    throw new ToolError(
      'config_invalid',
      `${url} exports no tools: its default export must be what defineTool gives, or a list of that.`,
    );
  }
  return { tools: list, ...pickTrial(rest, url) };
}

function pickTrial(exported: Readonly<Record<string, unknown>>, url: string): Omit<TrialModule, 'tools'> {
  const wanted = { calls: 'array', knowable: 'array', prepare: 'function', observe: 'function' } as const;
  const found: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(wanted)) {
    const value = exported[name];
    if (value === undefined) continue;
    if (type === 'array' ? !Array.isArray(value) : typeof value !== 'function')
      throw new ToolError(
        'config_invalid',
        `${url} exports ${name}, which must be ${type === 'array' ? 'an' : 'a'} ${type}.`,
      );
    found[name] = value;
  }
  return found as Omit<TrialModule, 'tools'>;
}

async function importModule(url: string): Promise<Record<string, unknown>> {
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError('config_invalid', `Cannot import the tools' module ${url}: ${why}`, { cause: error });
  }
}

function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && 'execute' in value && 'name' in value;
}

/** A trial with a mistake would pass for the wrong reason. @throws ToolError `config_invalid` */
export function checkTrial(trial: CrashTrial): void {
  if (!isObject(trial) || trial.tools === undefined) {
    const message = 'A crash trial needs tools: give the absolute path or the file: URL of their module.';
    throw new ToolError('config_invalid', message);
  }
  normalizeOptions('trial', trial, RULES);
}

/** A name without a call would suggest a check that never happens. @throws ToolError `config_invalid` */
export function checkKnowable(knowable: readonly string[], calls: readonly { readonly id: string }[]): void {
  const ids = calls.map(({ id }) => id);
  const stranger = knowable.find((id) => !ids.includes(id));
  if (stranger === undefined) return;
  const message = `trial.knowable names "${stranger}", which is not a call of the trial. Its calls: ${ids.join(', ')}.`;
  throw new ToolError('config_invalid', message);
}

function isCall(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, name } = value as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && (id === undefined || (typeof id === 'string' && id !== ''));
}

const COUNT = 'a whole number from 0';

const RULES: OptionRules<{ [K in keyof CrashTrial]-?: CrashTrial[K] | undefined }> = {
  tools: option(
    undefined,
    (value) => value instanceof URL || isFilledText(value),
    'an absolute path or a file: URL',
  ),
  calls: option(
    undefined,
    (value) => Array.isArray(value) && value.every(isCall),
    'a list of { id?, name, args }',
  ),
  prepare: option(undefined, isFunction, 'a function'),
  observe: option(undefined, isFunction, 'a function'),
  knowable: option(undefined, isTextList, 'a list of call ids'),
  parallel: option(undefined, isBoolean, 'true or false'),
  randomKills: option(undefined, isWhole(0), COUNT),
  stepKills: option(undefined, isWhole(0), COUNT),
  seed: option(undefined, Number.isFinite, 'a number'),
  onRound: option(undefined, isFunction, 'a function'),
  signal: option(undefined, (value) => value instanceof AbortSignal, 'an AbortSignal'),
};
