import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasScreens, Screens } from '../test/cli/screen.js';
import { MAIN } from './run-command-line.js';

const FOLDER = 'examples/first-run';
const COMMAND = `run ${FOLDER}/response.json --root ${FOLDER}/workspace --config ${FOLDER}/toolexec.toml`;

/**
 * The terminal of a person who runs the example and answers yes. Undefined if there is no tmux to draw it, or
 * if the machine is so busy that calls are slow.
 */
export async function drawScreen(): Promise<string | undefined> {
  for (let attempt = 0; hasScreens && attempt < 5; attempt++) {
    const lines = await runOnScreen();
    if (!lines.some((line) => /^[▸…] /.test(line)))
      return fence('console', [`$ npx toolexec ${COMMAND}`, ...lines]);
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

function fence(language: string, lines: readonly string[]): string {
  return ['```'.concat(language), ...lines, '```'].join('\n');
}
