import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { blankComments, editJson } from '../base/edit-json.js';
import { parseJson } from '../base/parse-json.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { assertWritable, entryStat, errnoOf, realPath, targetOf } from '../platform/fs/fs-entry.js';
import { removeFile } from '../platform/fs/make-and-remove.js';
import { makeDirectories } from '../platform/fs/make-directories.js';
import { ReadFailure, readTextFile, toReadFailure } from '../platform/fs/read-file.js';
import { replaceFile } from '../platform/fs/replace-file.js';
import { homeOf } from '../platform/runtime/environment.js';
import { AGENT_TITLES, type AgentName, SETTINGS_TIMEOUT_S } from './agents.js';
import { isObject } from './document.js';
import type { Installed } from './guard-state.js';

type Environment = Readonly<Record<string, string | undefined>>;

interface AgentSettings {
  /** Below the project, or below `home`. */
  readonly file: string;
  /** The directory in which the agent keeps the person's settings. */
  readonly home: (env: Environment) => string;
  readonly events: readonly string[];
  /** Events without tools have no matcher. */
  readonly toolEvents: ReadonlySet<string>;
  /** The unit of its timeouts. */
  readonly perSecond: 1 | 1000;
  /** Its settings may have comments. */
  readonly hasComments?: boolean;
}

const BEFORE_CALLS: ReadonlySet<string> = new Set([
  'PreToolUse',
  'PreSkillShellCommand',
  'PermissionRequest',
  'BeforeTool',
]);
const CLAUDE_EVENTS = ['PreToolUse', 'PermissionRequest', 'PostToolUse', 'PostToolUseFailure'];

const SETTINGS: Readonly<Record<AgentName, AgentSettings>> = {
  'claude-code': {
    file: '.claude/settings.json',
    home: (env) => env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude'),
    events: [...CLAUDE_EVENTS, 'Stop', 'SessionEnd'],
    toolEvents: new Set(CLAUDE_EVENTS),
    perSecond: 1,
  },
  codex: {
    file: '.codex/hooks.json',
    home: (env) => env.CODEX_HOME || join(homeOf(env), '.codex'),
    events: ['PreToolUse', 'PermissionRequest', 'PostToolUse', 'Stop'],
    toolEvents: new Set(CLAUDE_EVENTS),
    perSecond: 1,
  },
  'gemini-cli': {
    file: '.gemini/settings.json',
    home: (env) => join(env.GEMINI_CLI_HOME || homeOf(env), '.gemini'),
    events: ['BeforeTool', 'AfterTool', 'AfterAgent', 'SessionEnd'],
    toolEvents: new Set(['BeforeTool', 'AfterTool']),
    perSecond: 1000,
    hasComments: true,
  },
};

export interface SettingsPlace {
  readonly agent: AgentName;
  /** The person's settings for all projects. */
  readonly isUsers: boolean;
  /** The project's directory. */
  readonly project: string;
  readonly env: Environment;
}

/** The target of a link, if the person's own settings file is a link, as with dotfile managers. */
export function settingsFile({ agent, isUsers, project, env }: SettingsPlace): string {
  const { file, home } = SETTINGS[agent];
  if (!isUsers) return join(project, file);
  const own = join(home(env), file.slice(file.indexOf('/') + 1));
  return realPath(own) ?? own;
}

/** Whether the person uses the agent: its directory exists. */
export function hasAgentHome(agent: AgentName, env: Environment): boolean {
  return targetOf(SETTINGS[agent].home(env)) !== undefined;
}

/** The reason why settings cannot be changed. */
export class SettingsProblem extends Error {}

/** A change of a settings file that has not been written yet. */
export interface SettingsChange {
  readonly file: string;
  /** Undefined: there is no file. */
  readonly before: string | undefined;
  /** Undefined: the file is removed. Equal to `before`: there is nothing to do. */
  readonly after: string | undefined;
}

/** The command lines that the agent runs. */
export interface HookLines {
  /** Before a call. */
  readonly before: string;
  readonly other: string;
  /** Also before the shell commands in skills. Claude Code alone has this event, and versions without it may refuse the whole file. */
  readonly skills?: boolean;
}

/** @throws SettingsProblem */
export function planInstall(place: SettingsPlace, lines: HookLines): SettingsChange {
  const { events, toolEvents, perSecond } = SETTINGS[place.agent];
  const { file, before, value } = readSettings(place);
  const found = hooksIn(value, file);
  const hooks = withoutOurs(found, place.agent);
  for (const event of lines.skills === true ? [...events, 'PreSkillShellCommand'] : events) {
    const command = BEFORE_CALLS.has(event) ? lines.before : lines.other;
    const entry = { type: 'command', command, timeout: SETTINGS_TIMEOUT_S * perSecond };
    const named = place.agent === 'gemini-cli' ? { name: 'toolexec', ...entry } : entry;
    const group = { ...(toolEvents.has(event) ? { matcher: '*' } : {}), hooks: [named] };
    if (hooks[event] !== undefined && !Array.isArray(hooks[event]))
      throw new SettingsProblem(`hooks.${event} in "${file}" is not a list`);
    hooks[event] = [...listIn(hooks[event]), group];
  }
  const isThere = isDeepStrictEqual(hooks, found);
  const after = isThere ? before : write({ ...value, hooks }, before);
  return { file, before, after };
}

/** @param installed the texts that `install` found and wrote, if known. @throws SettingsProblem */
export function planRemove(place: SettingsPlace, installed: Installed | undefined): SettingsChange {
  const { file, before, value } = readSettings(place);
  if (before === undefined) return { file, before, after: before };
  // If nothing else has changed the file since, it gets its earlier bytes back.
  if (installed?.after === before && !holdsOurs(installed.before, place.agent))
    return { file, before, after: installed.before };
  const found = hooksIn(value, file);
  const hooks = withoutOurs(found, place.agent);
  if (JSON.stringify(hooks) === JSON.stringify(found)) return { file, before, after: before };
  const { hooks: _, ...others } = value;
  const rest = Object.keys(hooks).length === 0 ? others : { ...value, hooks };
  return { file, before, after: Object.keys(rest).length === 0 ? undefined : write(rest, before) };
}

/** Earlier forms of our lines: an earlier version wrote them. */
function holdsOurs(text: string | undefined, agent: AgentName): boolean {
  return text?.includes(` hook --for ${agent}`) === true;
}

/** Writes the change, unless the agent has changed the file meanwhile. @throws SettingsProblem */
export function commitSettings({ file, before, after }: SettingsChange): void {
  if (readIfThere(file) !== before) throw new SettingsProblem(`"${file}" has changed meanwhile. Try again`);
  // A project could redirect the write to any file of the person.
  if (entryStat(file)?.isSymbolicLink() === true)
    throw new SettingsProblem(`"${file}" is a link: replace it with a file, or use --user`);
  const found = entryStat(file);
  try {
    // To replace the file would bypass its mode.
    if (found !== undefined) assertWritable(file);
    if (after === undefined) removeFile(file);
    else {
      makeDirectories(dirname(file));
      replaceFile(file, after, found?.mode, found);
    }
  } catch (error) {
    throw new SettingsProblem(`"${file}" cannot be written (${errnoOf(error) ?? String(error)})`);
  }
  if (after === undefined && entryStat(file) !== undefined)
    throw new SettingsProblem(`"${file}" cannot be removed`);
}

/** The command of our line in a settings file; undefined if there is none. @throws SettingsProblem */
export function installedLine(place: SettingsPlace): string | undefined {
  return ownEntries(place, () => true)[0]?.command;
}

interface OwnEntry {
  readonly command: string;
  readonly timeout?: JsonValue;
}

function ownEntries(place: SettingsPlace, isWanted: (event: string) => boolean): readonly OwnEntry[] {
  const { file, value } = readSettings(place);
  const events = Object.entries(hooksIn(value, file)).filter(([event]) => isWanted(event));
  const groups = events.flatMap(([, list]) => listIn(list));
  const entries = groups.flatMap((group) => (isObject(group) ? listIn(group.hooks) : []));
  return entries.filter((entry) => isOurs(entry, place.agent)) as unknown as readonly OwnEntry[];
}

/** Our entries for events before calls. @throws SettingsProblem */
export function linesBeforeCalls(place: SettingsPlace): readonly OwnEntry[] {
  return ownEntries(place, (event) => BEFORE_CALLS.has(event));
}

/** A time limit in the settings of an agent. */
export function secondsOf(timeout: number, agent: AgentName): number {
  return timeout / SETTINGS[agent].perSecond;
}

/** @throws SettingsProblem */
export function readSettings(place: SettingsPlace): {
  readonly file: string;
  readonly before: string | undefined;
  readonly value: JsonObject;
} {
  const file = settingsFile(place);
  const before = readIfThere(file);
  // With a byte order mark, an editor of Windows has written the file.
  const text = before?.replace(/^\uFEFF/, '') ?? '';
  if (text.trim() === '') return { file, before, value: {} };
  let value: unknown;
  try {
    value = parseSettings(text, place.agent);
  } catch (error) {
    throw new SettingsProblem(
      `the settings of ${AGENT_TITLES[place.agent]} in "${file}" cannot be read: ${(error instanceof Error ? error.message : String(error)).replace(/\.$/, '')}`,
    );
  }
  if (!isObject(value)) throw new SettingsProblem(`"${file}" is not a JSON object`);
  return { file, before, value };
}

/** As the agent reads them. @throws JsonTextError */
export function parseSettings(text: string, agent: AgentName): unknown {
  return parseJson(SETTINGS[agent].hasComments === true ? blankComments(text) : text);
}

/** @throws SettingsProblem */
export function readIfThere(file: string): string | undefined {
  // Reading a named pipe would wait for ever.
  if (targetOf(file)?.isFile() === false) throw new SettingsProblem(`"${file}" is not a file`);
  try {
    return entryStat(file) === undefined ? undefined : readTextFile(file, 4 * 1024 * 1024, true);
  } catch (error) {
    // A directory above it may be a file, or another user's.
    if (!(error instanceof ReadFailure) && errnoOf(error) === undefined) throw error;
    const { message } = toReadFailure(error);
    throw new SettingsProblem(`"${file}" cannot be read: ${message.replace(/\.$/, '')}`);
  }
}

function hooksIn({ hooks }: JsonObject, file: string): JsonObject {
  if (hooks === undefined) return {};
  if (!isObject(hooks)) throw new SettingsProblem(`hooks in "${file}" is not an object`);
  return hooks;
}

/** Removes our entries, and groups and events that contained only those. */
function withoutOurs(hooks: JsonObject, agent: AgentName): Record<string, JsonValue> {
  const rest: Record<string, JsonValue> = {};
  for (const [event, groups] of Object.entries(hooks)) {
    if (!Array.isArray(groups)) {
      rest[event] = groups;
      continue;
    }
    const kept = groups.flatMap((group): JsonValue[] => {
      const entries = isObject(group) ? listIn(group.hooks) : [];
      const others = entries.filter((entry) => !isOurs(entry, agent));
      if (!isObject(group) || others.length === entries.length) return [group];
      return others.length === 0 ? [] : [{ ...group, hooks: others }];
    });
    if (kept.length > 0 || groups.length === 0) rest[event] = kept;
  }
  return rest;
}

/**
 * These agents run the call if its hook was killed or not found; only exit code 2 stops them. Codex and Gemini CLI also
 * need a text on standard error, and zsh and fish write none for a killed program. Codex runs the call, too, if its
 * document was not read to the end; other agents may never close the input, so reading on would hang. Every
 * Unix shell understands this line.
 */
export function orStop(agent: AgentName): string {
  return ` || eval '${agent === 'codex' ? READ_ON : ''}${STOP}'`;
}

const READ_ON = 'cat >/dev/null; ';
const STOP = 'echo toolexec hook has not let the call through >&2; exit 2';

/** The endings of this and earlier versions. */
const ENDINGS = [orStop('codex'), orStop('claude-code'), ' || exit 2'];

function isOurs(entry: JsonValue, agent: AgentName): boolean {
  if (!isObject(entry) || typeof entry.command !== 'string') return false;
  const line = ENDINGS.reduce((text, ending) => text.replace(ending, ''), entry.command).replace(
    /(?: --timeout [\d.]+| --no-ask)+$/,
    '',
  );
  return line.endsWith(` hook --for ${agent}`) && line.includes('toolexec');
}

export function listIn(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** What stays the same keeps its bytes. */
function write(value: JsonObject, before: string | undefined): string {
  const isEmpty = before === undefined || before.replace(/^\uFEFF/, '').trim() === '';
  return isEmpty ? `${JSON.stringify(value, null, 2)}\n` : editJson(before, value);
}
