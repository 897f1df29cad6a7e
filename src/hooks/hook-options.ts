import { ToolError } from '../errors/tool-error.js';

interface EventTraits {
  /** The names that are compared with a matcher; `nothing`: the event has no matcher. */
  readonly matches: 'tools' | 'notification types' | 'agent types' | 'nothing';
  /**
   * A hook that crashes, hangs or prints no JSON: `refuse` the call, `report` it to the model, or only `log` it.
   */
  readonly onFailure: 'refuse' | 'report' | 'log';
}

/** The supported events, with the names of Claude Code and Gemini CLI. */
export const EVENT_TRAITS = {
  PreToolUse: { matches: 'tools', onFailure: 'refuse' },
  PostToolUse: { matches: 'tools', onFailure: 'report' },
  PostToolUseFailure: { matches: 'tools', onFailure: 'report' },
  BeforeTool: { matches: 'tools', onFailure: 'refuse' },
  AfterTool: { matches: 'tools', onFailure: 'report' },
  PostToolBatch: { matches: 'nothing', onFailure: 'report' },
  PermissionRequest: { matches: 'tools', onFailure: 'log' },
  PermissionDenied: { matches: 'tools', onFailure: 'log' },
  Notification: { matches: 'notification types', onFailure: 'log' },
  Stop: { matches: 'nothing', onFailure: 'log' },
  SubagentStop: { matches: 'agent types', onFailure: 'log' },
} as const satisfies Readonly<Record<string, EventTraits>>;

export type HookEvent = keyof typeof EVENT_TRAITS;

export const HOOK_EVENTS = Object.keys(EVENT_TRAITS) as readonly HookEvent[];

/** One program, in the format of those agents' settings. */
export interface CommandHook {
  readonly type: 'command';
  /** A line for `sh`. */
  readonly command: string;
  /** Seconds; of `BeforeTool` and `AfterTool` milliseconds. Default: 60 s. */
  readonly timeout?: number;
  /**
   * The effect of a hook before a call that crashes, hangs or prints no JSON: `refuse` the call, or
   * `continue` with it. Default `refuse`. Hooks of other events refuse nothing; with `continue` their failure
   * is not reported either.
   */
  readonly on_failure?: 'refuse' | 'continue';
}

export interface HookGroup {
  /**
   * Tool names: one, several with `|`, or a regular expression; `*`, an empty text or nothing means all. For
   * `Notification` it selects types of notifications, for `SubagentStop` types of sub-agents; `Stop` and
   * `PostToolBatch` have none.
   */
  readonly matcher?: string;
  readonly hooks: readonly CommandHook[];
}

export type HookOptions = { readonly [E in HookEvent]?: readonly HookGroup[] };

/** A mistake in a group, and its place. */
export interface HookFlaw {
  readonly at: readonly (string | number)[];
  readonly problem: string;
}

/** @throws ToolError `config_invalid` with the place of the first mistake */
export function checkHooks(hooks: unknown): asserts hooks is HookOptions {
  if (typeof hooks !== 'object' || hooks === null || Array.isArray(hooks))
    throw invalid('options.hooks must be an object of events.');
  for (const [event, groups] of Object.entries(hooks)) {
    if (!HOOK_EVENTS.some((known) => known === event))
      throw invalid(`options.hooks.${event} is not known. Its events: ${HOOK_EVENTS.join(', ')}.`);
    const [flaw] = groupFlaws(groups, event);
    if (flaw !== undefined) throw invalid(`options.hooks.${event}${flaw.problem}`);
  }
}

function invalid(message: string): ToolError {
  return new ToolError('config_invalid', message);
}

/** @param event left out: only the shape is checked */
export function groupFlaws(groups: unknown, event?: string): readonly HookFlaw[] {
  if (!Array.isArray(groups)) return [{ at: [], problem: ' must be a list of groups.' }];
  return groups.flatMap((group: unknown, index) => flawsOfGroup(group, index, event));
}

function flawsOfGroup(group: unknown, index: number, event: string | undefined): readonly HookFlaw[] {
  if (!isTable(group)) return [{ at: [index], problem: `[${index}] must be a table.` }];
  const unknown = Object.keys(group).find((key) => !['matcher', 'hooks', 'sequential'].includes(key));
  if (unknown !== undefined)
    return [{ at: [index, unknown], problem: `[${index}].${unknown} is not known. Remove it.` }];
  const { matcher, hooks } = group;
  if (matcher !== undefined && (typeof matcher !== 'string' || !isMatcher(matcher)))
    return [
      {
        at: [index, 'matcher'],
        problem: `[${index}].matcher must be a name, names with |, or a regular expression.`,
      },
    ];
  if (isSet(matcher) && HOOK_EVENTS.some((one) => one === event && EVENT_TRAITS[one].matches === 'nothing'))
    return [
      {
        at: [index, 'matcher'],
        problem: `[${index}].matcher has no meaning: ${event} is about no tool. Remove it.`,
      },
    ];
  if (!Array.isArray(hooks) || hooks.length === 0)
    return [{ at: [index, 'hooks'], problem: `[${index}].hooks must be a list of programs.` }];
  return hooks.flatMap((hook: unknown, place) => {
    const problem = flawOfHook(hook);
    return problem === undefined
      ? []
      : [{ at: [index, 'hooks', place], problem: `[${index}].hooks[${place}]${problem}` }];
  });
}

const HOOK_KEYS = ['type', 'command', 'timeout', 'on_failure', 'name', 'description'];

function flawOfHook(hook: unknown): string | undefined {
  if (!isTable(hook)) return ' must be a table.';
  const unknown = Object.keys(hook).find((key) => !HOOK_KEYS.includes(key));
  if (unknown !== undefined) return `.${unknown} is not known. Remove it.`;
  if (hook.type !== 'command') return '.type must be "command".';
  if (typeof hook.command !== 'string' || hook.command.trim() === '')
    return '.command must be a command line.';
  if (hook.timeout !== undefined && !(typeof hook.timeout === 'number' && hook.timeout > 0))
    return '.timeout must be a number above 0.';
  if (hook.on_failure !== undefined && hook.on_failure !== 'refuse' && hook.on_failure !== 'continue')
    return '.on_failure must be one of refuse, continue.';
  return undefined;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMatcher(matcher: string): boolean {
  try {
    new RegExp(matcher === '*' ? '' : matcher, 'u');
    return true;
  } catch {
    return false;
  }
}

function isSet(matcher: unknown): boolean {
  return matcher !== undefined && matcher !== '' && matcher !== '*';
}

/** Whether a group applies to a tool, by any of its names. */
export function matches({ matcher = '' }: HookGroup, names: readonly string[]): boolean {
  if (!isSet(matcher)) return true;
  const pattern = new RegExp(`^(?:${matcher})$`, 'u');
  return names.some((name) => pattern.test(name));
}
