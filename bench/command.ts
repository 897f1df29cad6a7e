import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './clean-environment.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Goal, type Row, toMs, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Whole processes of the command, beside one of Node that does nothing. */
export function measureCommand(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const workspace = makeWorkspace(directory);
    const { bare, help, run } = await interleave(
      {
        bare: processOf(['-e', '0'], workspace, ''),
        help: processOf([commandFile(), '--help'], workspace, 'Usage: toolexec'),
        run: processOf(
          [commandFile(), 'run', 'response.json', '--again', '--journal', join(directory, 'journal.db')],
          workspace,
          'second file',
        ),
      },
      { rounds: scale === 'quick' ? 1 : 25, warmUps: 1 },
    );
    const beside = ['node -e 0', toMs(bare)] as const;
    const row = (what: string, timing: typeof run, goal: Goal): Row =>
      toRow(what, toMs(timing), beside, { unit: 'ms', computing: false, goal });
    return [
      row('toolexec --help', help, { of: 'ratio', atMost: OLD ? 1.8 : 1.5 }),
      row('toolexec run, two calls, journal in a file', run, { of: 'ratio', atMost: OLD ? 5 : 4 }),
    ];
  });
}

/** It has no compile cache. */
const OLD = process.versions.node.startsWith('20.');

/** A directory with two files, and a response that asks for both. */
function makeWorkspace(directory: string): string {
  const workspace = join(directory, 'workspace');
  mkdirSync(workspace);
  const names = ['first', 'second'];
  for (const name of names) writeFileSync(join(workspace, `${name}.txt`), `the ${name} file\n`.repeat(40));
  const content = names.map((name) => ({
    type: 'tool_use',
    id: `toolu_${name}`,
    name: 'read_file',
    input: { path: `${name}.txt` },
  }));
  const response = { id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason: 'tool_use' };
  writeFileSync(join(workspace, 'response.json'), JSON.stringify(response));
  return workspace;
}

function commandFile(): string {
  const { bin }: { bin: { toolexec: string } } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return join(ROOT, bin.toolexec);
}

function processOf(args: readonly string[], cwd: string, expected: string): Contender {
  const env = cleanEnvironment();
  return {
    units: 1,
    run() {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
      if (status === 0 && stdout.includes(expected)) return;
      throw new Error(`Cannot measure "${args.join(' ')}": ${stderr}`);
    },
  };
}
