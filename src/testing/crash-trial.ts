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

/** A batch that is killed, again and again, while it runs. */
export interface CrashTrial {
  /**
   * The module of the tools under trial: an absolute path or a `file:` URL. Its default export (or `tools`, or
   * `tool`) is a tool, a list of tools, or a function that gives them. It is imported by every process that is
   * killed, and by this one, which settles what they leave behind. `calls`, `prepare`, `observe` and `knowable` may
   * be exported by it as well, and hold where they are left out here.
   */
  readonly tools: string | URL;
  /** One batch: the calls in order. An id that is left out is made up. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly args: JsonObject }[];
  /** Lays out the root directory before each round. */
  readonly prepare?: (root: string) => Awaitable<void>;
  /**
   * How often the effect of each call has happened in the world, by call id: 0 or 1 if all is well, a fraction when
   * it is half done. A call that is not named is not looked at.
   */
  readonly observe?: (root: string) => Awaitable<Readonly<Record<string, number>>>;
  /**
   * Ids of calls whose outcome must be known after every crash, because their tool can `probe`: an `outcome_unknown`
   * of theirs is a problem. Default: none.
   */
  readonly knowable?: readonly string[];
  /** Whether calls that do not conflict run side by side. Default false. */
  readonly parallel?: boolean;
  /** Kills at random instants, on top of the two at each step of the journal (before and after it). Default 20. */
  readonly randomKills?: number;
  /** At most so many kills at steps of the journal, spread over them. Default: all. */
  readonly stepKills?: number;
  /** Makes the random instants the same every time. Default: others every time; the verdict says which. */
  readonly seed?: number;
  /** Told after every round, for a progress display. */
  readonly onRound?: (done: number, of: number) => void;
  /** Ends the trial; what has been seen so far is the verdict. */
  readonly signal?: AbortSignal;
}

export type CrashProblemKind =
  /** A call has no result after recovery. */
  | 'no_result'
  /** A call was answered differently later. */
  | 'changed_result'
  /** An effect happened more than once. */
  | 'ran_twice'
  /** An effect was left half done. */
  | 'half_done'
  /** The result says something else than what happened. */
  | 'untrue_result'
  /** `outcome_unknown`, where it could be known. */
  | 'needless_unknown'
  /** What the journal had acknowledged is gone. */
  | 'lost_record'
  /** The journal's chain does not hold. */
  | 'broken_journal'
  /** A process did not do what it was started for: it failed by itself, or hung. */
  | 'broken_round';

export interface CrashProblem {
  readonly kind: CrashProblemKind;
  /** Where it was killed: `before step 3 (claim)`, `after 4.2 ms`. */
  readonly killed: string;
  readonly callId?: string;
  readonly message: string;
}

export interface CrashVerdict {
  /** No problem was seen, and something was killed. */
  readonly passed: boolean;
  /** Processes that were killed while they ran the batch. */
  readonly kills: number;
  /** Rounds in all; in some the batch had ended before the kill. */
  readonly rounds: number;
  /** How often each answer was given after a crash: `ok`, or the code of the error. */
  readonly answers: Readonly<Record<string, number>>;
  readonly problems: readonly CrashProblem[];
  readonly seed: number;
  /** For people, several lines. */
  readonly report: string;
}

/** The `file:` URL of a module. @throws ToolError `config_invalid` when it is neither that nor an absolute path. */
export function moduleUrl(module: string | URL): string {
  if (module instanceof URL) return module.href;
  if (module.startsWith('file:')) return module;
  if (isAbsolute(module)) return pathToFileURL(module).href;
  throw new ToolError(
    'config_invalid',
    `Cannot find the tools' module "${module}" from here: give an absolute path or a file: URL.`,
  );
}

/** What a module under trial exports. */
interface TrialModule extends Partial<Pick<CrashTrial, 'calls' | 'prepare' | 'observe' | 'knowable'>> {
  readonly tools: readonly Tool[];
}

/**
 * The tools that a module exports by default, as `tools` or as `tool` (one, several, or a function that gives them),
 * and whatever else of a trial it exports under its name.
 * @throws ToolError `config_invalid` when it cannot be imported, or exports no tools.
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

/** A trial that means something else than it says would pass for the wrong reason. @throws ToolError `config_invalid` */
export function checkTrial(trial: CrashTrial): void {
  if (!isObject(trial) || trial.tools === undefined) {
    const message = 'A crash trial needs tools: give the absolute path or the file: URL of their module.';
    throw new ToolError('config_invalid', message);
  }
  normalizeOptions('trial', trial, RULES);
}

/** A caller that names a call that is not there would believe that it was checked. @throws ToolError `config_invalid` */
export function checkKnowable(knowable: readonly string[], calls: readonly { readonly id: string }[]): void {
  const ids = calls.map(({ id }) => id);
  const stranger = knowable.find((id) => !ids.includes(id));
  if (stranger === undefined) return;
  const message = `trial.knowable names "${stranger}", which is no call of the trial. Its calls: ${ids.join(', ')}.`;
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
