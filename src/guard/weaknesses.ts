import { entryStat } from '../platform/fs/fs-entry.js';
import { hasUnixShell } from '../platform/runtime/environment.js';
import {
  linesBeforeCalls,
  orStop,
  readSettings,
  type SettingsPlace,
  secondsOf,
  settingsFile,
} from './agent-settings.js';
import { AGENT_TITLES, HOOK_TIMEOUT_S } from './agents.js';
import { switchedOff } from './switched-off.js';

/** Why an agent may run calls unchecked, or none at all, although its settings have our lines. @throws SettingsProblem */
export function weaknessesOf(place: SettingsPlace): readonly string[] {
  return [switchedOff(place), refusedFile(place), shortTimeout(place), oldLine(place)].filter(
    (one) => one !== undefined,
  );
}

/** Codex runs no hook of a file with another member. */
const MEMBERS_OF_CODEX: ReadonlySet<string> = new Set(['hooks', 'description']);

function refusedFile(place: SettingsPlace): string | undefined {
  if (place.agent !== 'codex') return undefined;
  const { file, value } = readSettings(place);
  const unknown = Object.keys(value).find((name) => !MEMBERS_OF_CODEX.has(name));
  return unknown === undefined
    ? undefined
    : `Codex refuses "${file}", and runs no hook, because it does not know "${unknown}": remove it`;
}

function shortTimeout(place: SettingsPlace): string | undefined {
  for (const { command, timeout } of linesBeforeCalls(place)) {
    const seconds = typeof timeout === 'number' ? secondsOf(timeout, place.agent) : Infinity;
    const [, given] = / --timeout ([\d.]+)/.exec(command) ?? [];
    const limit = given === undefined ? HOOK_TIMEOUT_S : Number(given);
    if (seconds <= limit)
      return `the agent waits ${seconds} s for a hook in "${settingsFile(place)}", then it runs the call, and toolexec hook may take ${limit} s: give a longer timeout there, or add a shorter --timeout to the line`;
  }
  return undefined;
}

/** An update of toolexec, or of Node, can remove the programs of a line. */
function oldLine(place: SettingsPlace): string | undefined {
  const again = `run toolexec guard install ${place.agent} again`;
  for (const { command } of linesBeforeCalls(place)) {
    const missing = programsOf(command).find((program) => entryStat(program) === undefined);
    if (missing !== undefined)
      return `"${missing}" of the line in "${settingsFile(place)}" is not there, so ${AGENT_TITLES[place.agent]} runs no call: ${again}`;
    if (hasUnixShell() && !command.endsWith(orStop(place.agent)))
      return `the line in "${settingsFile(place)}" is of an earlier version, and may let a call run if the hook is killed: ${again}`;
  }
  return undefined;
}

/** The absolute paths before `hook`. */
function programsOf(command: string): readonly string[] {
  const [programs = ''] = command.split(' hook --for ');
  return [...programs.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain ?? '')
    .filter((word) => word.startsWith('/') && !word.includes("'"));
}
