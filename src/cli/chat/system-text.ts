import { resolve } from 'node:path';
import type { ConfiguredOptions } from '../../config/configuration.js';
import { isToolError } from '../../errors/tool-error.js';
import { createSandbox } from '../../files/create-sandbox.js';
import { systemClock } from '../../platform/clock/clock.js';
import { realPlace } from '../../platform/fs/probe-place.js';
import { homeDirectory, systemName } from '../../platform/runtime/environment.js';
import { checkBubblewrap, checkTransactions } from '../doctor/check-programs.js';

/** How commands are contained here, for the person and the model. */
export interface Containment {
  /** A few words for the first line. */
  readonly brief: string;
  /** Sentences for the model. */
  readonly whole: string;
}

/**
 * Measured rather than read from the configuration: bubblewrap is often installed but not permitted to create
 * a sandbox.
 */
export async function describeContainment(
  roots: readonly string[],
  configured: ConfiguredOptions['sandbox'] = {},
): Promise<Containment> {
  const { state } = await checkBubblewrap(configured);
  if (state !== 'ok') {
    return {
      brief: 'no OS sandbox: commands run as you',
      whole:
        'Commands run without an OS sandbox, with the rights of the person. File tools reach only the roots.',
    };
  }
  const network = configured.network === true;
  const isUndone = (await checkTransactions(roots, configured)).state === 'ok';
  return {
    brief: `sandboxed, ${network ? 'with network' : 'no network'}${isUndone ? ', undo' : ''}`,
    whole: [
      'Commands run in an OS sandbox: they may write only in the roots and in temporary directories',
      network ? 'and reach the network.' : 'and reach no network, so that downloads and installations fail.',
      isUndone ? 'The changes of a command are committed when it ends, and the person can undo them.' : '',
    ]
      .filter((part) => part !== '')
      .join(' '),
  };
}

/** The facts about the environment that a model needs, unless `--system` replaces them. */
export function defaultSystem(roots: readonly string[], containment: Containment): string {
  const [first = '.', ...others] = roots.map((root) => realPlace(resolve(root)));
  return [
    'You work with tools in a directory of the person in front of the terminal. Look before you change something, and',
    'answer briefly, in Markdown.',
    '',
    `Working directory: ${first}`,
    ...(others.length === 0 ? [] : [`Other roots: ${others.join(', ')}`]),
    `Platform: ${systemName()}`,
    `Date: ${new Date(systemClock.now()).toISOString().slice(0, 10)}`,
    `Sandbox: ${containment.whole} The person is asked about calls with side effects, and may refuse them.`,
  ].join('\n');
}

const INSTRUCTIONS = 'AGENTS.md';
const MOST_BYTES = 64 * 1024;

/** The project's `AGENTS.md` for the end of the system text. Undefined if it cannot be read. */
export async function projectInstructions(root: string): Promise<string | undefined> {
  try {
    // A link out of the root is not followed: its target is not for the model.
    const bytes = await createSandbox({ roots: [root] }).files.read(INSTRUCTIONS);
    const text = new TextDecoder().decode(bytes.subarray(0, MOST_BYTES));
    return `The project's ${INSTRUCTIONS}:\n\n${text}`;
  } catch (error) {
    if (isToolError(error)) return undefined;
    throw error;
  }
}

/** The part of the first line at a terminal that follows the model: root, containment and journal. */
export function describePlace(roots: readonly string[], journal: string, { brief }: Containment): string {
  const [first = '.', ...others] = roots;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${inHome(realPlace(resolve(first)))}${more} · ${brief} · journal ${inHome(journal)}`;
}

function inHome(path: string): string {
  const home = homeDirectory();
  return home !== '/' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
