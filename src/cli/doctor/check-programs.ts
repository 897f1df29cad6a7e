import { findCommandSandbox } from '../../commands/sandbox/find-sandbox.js';
import { whyNoRooms } from '../../commands/sandbox/room.js';
import { whyNoOverlays } from '../../commands/transaction/overlay-setup.js';
import type { ConfiguredOptions } from '../../config/configuration.js';
import { isToolError } from '../../errors/tool-error.js';
import { askProgram } from '../../platform/process/ask-program.js';
import { findProgram } from '../../platform/process/find-program.js';
import { findShell } from '../../platform/process/find-shell.js';
import { findRipgrep } from '../../search/find-ripgrep.js';
import type { Check } from './check-machine.js';

interface SoughtProgram {
  readonly name: string;
  /** The file name of the program. */
  readonly program: string;
  /** Arguments that show whether it works, not only whether it exists. */
  readonly args: readonly string[];
  readonly costs: string;
  readonly remedy: string;
}

export const GIT: SoughtProgram = {
  name: 'git',
  program: 'git',
  args: ['--version'],
  costs: 'Commands of models that use git fail. toolexec itself does not need git.',
  remedy: 'apt install git, dnf install git or brew install git',
};

/** Whether a program on the search path runs. */
export async function checkProgram(
  sought: SoughtProgram,
  env: Readonly<Record<string, string>>,
): Promise<Check> {
  const { name, costs, remedy } = sought;
  const [path] = findProgram(sought.program);
  if (path === undefined) return { name, state: 'missing', found: 'not found', costs, remedy };
  const answer = await askProgram(path, sought.args, env);
  if (!answer.ok)
    return { name, state: 'missing', found: `${path} does not work: ${answer.reason}`, costs, remedy };
  return { name, state: 'ok', found: `${path} (${answer.stdout.trim().split('\n')[0] ?? ''})` };
}

/** The sandbox for commands: bubblewrap is often installed but not permitted to create one. */
export async function checkBubblewrap(configured: ConfiguredOptions['sandbox'] = {}): Promise<Check> {
  const { os = 'preferred', network = false } = configured;
  const sandbox = await findCommandSandbox();
  if (os === 'off') {
    return {
      name: 'bubblewrap',
      state: 'missing',
      found: sandbox.stands
        ? `${sandbox.file} can isolate, and is switched off`
        : `${sandbox.reason}, and it is switched off`,
      costs: 'Commands run as you, with your files and your network: only your consent limits them.',
      remedy: 'Set sandbox = "preferred" or "required" under [tools.run_command].',
    };
  }
  if (sandbox.stands) {
    const reach = network ? 'they reach the network' : await describeOffline(sandbox.file);
    return { name: 'bubblewrap', state: 'ok', found: `${sandbox.file} isolates commands, ${reach} (${os})` };
  }
  const costs =
    os === 'required'
      ? 'An OS sandbox is required, so no command runs: their calls are answered sandbox_violation.'
      : 'There is no OS sandbox around commands: every command asks, even if a rule allows it, and runs as you.';
  return { name: 'bubblewrap', state: 'missing', found: sandbox.reason, costs, remedy: sandbox.remedy };
}

async function describeOffline(bubblewrap: string): Promise<string> {
  const reason = await whyNoRooms(bubblewrap);
  if (reason === undefined) return 'without network';
  return `without network, and each has a separate loopback because ${reason}`;
}

/** Whether commands can run as transactions. */
export async function checkTransactions(
  roots: readonly string[],
  configured: ConfiguredOptions['sandbox'] = {},
): Promise<Check> {
  const { os = 'preferred', transactions = 'auto' } = configured;
  const name = 'transactions';
  const sandbox = await findCommandSandbox();
  const reason =
    transactions === 'off'
      ? 'they are switched off'
      : os === 'off' || !sandbox.stands
        ? 'there is no OS sandbox around commands'
        : await whyNoOverlays(roots);
  if (reason === undefined) {
    return {
      name,
      state: 'ok',
      found: `changes of commands are kept apart until they end (${transactions})`,
    };
  }
  const costs =
    transactions === 'required'
      ? 'Transactions are required, so no command runs: their calls are answered sandbox_violation.'
      : 'Commands change files immediately, and their changes cannot be undone or previewed.';
  const remedy =
    transactions === 'off'
      ? 'Set transactions = "auto" under [tools.sandbox].'
      : 'Needs Linux 5.11 or newer with user namespaces, bubblewrap, util-linux, and a root that you own on a local file system.';
  return { name, state: 'missing', found: reason, costs, remedy };
}

const COSTS = 'The tools grep and glob answer execution_failed.';
const REMEDY =
  'Install toolexec again with its optional packages, or ripgrep: apt install ripgrep, brew install ripgrep.';

export async function checkRipgrep(
  roots: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Check> {
  const path = await find(roots);
  if (path === undefined) return missing('not found');
  const answer = await askProgram(path, ['--version'], env);
  if (!answer.ok) return missing(`${path} does not work: ${answer.reason}`);
  return { name: 'ripgrep', state: 'ok', found: `${answer.stdout.split('\n')[0]} (${path})` };
}

async function find(roots: readonly string[]): Promise<string | undefined> {
  try {
    return await findRipgrep(roots);
  } catch (error) {
    if (isToolError(error, 'execution_failed')) return undefined;
    throw error;
  }
}

function missing(found: string): Check {
  return { name: 'ripgrep', state: 'missing', found, costs: COSTS, remedy: REMEDY };
}

export function checkShell(name: 'sh' | 'bash', searchPath: string | undefined): Check {
  const path = findShell(name, searchPath);
  if (path !== undefined) return { name, state: 'ok', found: path };
  return {
    name,
    state: 'missing',
    found: 'not found',
    costs: `The tool ${name === 'sh' ? 'run_command' : 'bash'} answers spawn_failed.`,
    remedy: `Install ${name}${name === 'bash' ? ': apt install bash, apk add bash or brew install bash' : ''}.`,
  };
}
