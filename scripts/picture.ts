import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasScreens, Screens } from '../test/cli/screen.js';
import { MAIN, runCommandLine } from './run-command-line.js';

const FOLDER = 'examples/first-run';
const COMMAND = `run ${FOLDER}/response.json --root ${FOLDER}/workspace --config ${FOLDER}/toolexec.toml`;
const LONGEST = 84;

/** What goes into the shipped example and what comes out of it, as text for the README. */
export function picture(part: string): string {
  switch (part) {
    case 'in':
      return fence('json', readCalls());
    case 'out':
      return fence('json', toLines(JSON.parse(run().stdout)));
    default:
      throw new Error(`Cannot show "${part}" of the example: in, screen or out was expected.`);
  }
}

/**
 * The terminal of a person who runs the example and says yes. Undefined where there is no tmux to draw it, or where the machine is
 * so busy that calls are slow.
 */
export async function drawScreen(): Promise<string | undefined> {
  for (let attempt = 0; hasScreens && attempt < 5; attempt++) {
    const lines = await runOnScreen();
    if (!lines.some((line) => /^[▸…] /.test(line)))
      return fence('console', [`$ toolexec ${COMMAND}`, ...lines]);
  }
  console.log('README.md: the screen is not drawn again');
  return undefined;
}

async function runOnScreen(): Promise<readonly string[]> {
  const state = mkdtempSync(join(tmpdir(), 'toolexec-docs-'));
  const screens = new Screens();
  try {
    const screen = screens.open(
      ['sh', '-c', 'exec "$@" >"$XDG_STATE_HOME/out"', 'sh', process.execPath, MAIN, ...COMMAND.split(' ')],
      {
        cwd: join(import.meta.dirname, '..'),
        columns: 140,
        env: { PATH: process.env.PATH ?? '', HOME: state, XDG_STATE_HOME: state, NO_COLOR: '1' },
      },
    );
    await screen.shows('? keys:');
    screen.type('y');
    return (await screen.ended()).text.trim().split('\n');
  } finally {
    screens.close();
    rmSync(state, { recursive: true, force: true });
  }
}

let ran: ReturnType<typeof runCommandLine> | undefined;

function run(): ReturnType<typeof runCommandLine> {
  ran ??= runCommandLine([...COMMAND.split(' '), '--yes']);
  // One of the four calls fails on purpose.
  if (ran.exitCode !== 1) throw new Error(`The example ended with exit code ${ran.exitCode}:\n${ran.stderr}`);
  return ran;
}

function readCalls(): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, '..', FOLDER, 'response.json'), 'utf8');
  return toLines(JSON.parse(text)).filter((line) => line.includes('"tool_use"'));
}

interface Message {
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

/** One line a block; long texts are cut, which the ellipsis shows. */
function toLines({ content }: Message): readonly string[] {
  return content.map((block) => JSON.stringify(block, (_key, value) => shorten(value)));
}

function shorten(value: unknown): unknown {
  return typeof value === 'string' && value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
}

function fence(language: string, lines: readonly string[]): string {
  return ['```'.concat(language), ...lines, '```'].join('\n');
}
