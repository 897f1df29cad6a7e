import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from './run-command-line.js';

const FOLDER = 'examples/first-run';
const COMMAND = `run ${FOLDER}/response.json --root ${FOLDER}/workspace --config ${FOLDER}/toolexec.toml --yes`;
const LONGEST = 84;

/** What goes into the shipped example and what comes out of it, as text for the README. */
export function picture(part: string): string {
  switch (part) {
    case 'in':
      return fence('json', readCalls());
    case 'screen':
      return fence('console', [`$ toolexec ${COMMAND}`, ...run().stderr.trim().split('\n')]);
    case 'out':
      return fence('json', toLines(JSON.parse(run().stdout)));
    default:
      throw new Error(`Cannot show "${part}" of the example: in, screen or out was expected.`);
  }
}

let ran: ReturnType<typeof runCommandLine> | undefined;

function run(): ReturnType<typeof runCommandLine> {
  ran ??= runCommandLine(COMMAND.split(' '));
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
