import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Goal, type Row, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const MODULES = { full: 1000, quick: 20 };
const FILES_IN_MODULE = 50;
const FILE_BYTES = 4_000;

const NO_MORE_THAN = (atMost: number): Goal => ({ of: 'ratio', atMost });

/** The whole of `executor.run` for one search of 50,000 files (200 MB), beside ripgrep alone started from here. */
export function measureSearch(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    makeTree(directory, MODULES[scale]);
    const executor = toolexec.createExecutor({ root: directory });
    const ours = (name: string, args: Record<string, string>): Contender => ({
      units: 1,
      async run() {
        const result = await executor.execute(name, args);
        if (!result.success) throw new Error(result.error.message);
      },
    });
    const bare = (...args: string[]): Contender => ({ units: 1, run: () => runBare(directory, args) });
    const timing = await interleave(
      {
        globAll: ours('glob', { pattern: '**' }),
        globSome: ours('glob', { pattern: '**/*.ts' }),
        files: bare('--files'),
        lines: ours('grep', { pattern: 'needle_here', output_mode: 'content' }),
        bareLines: bare('-n', 'needle_here', './'),
        paths: ours('grep', { pattern: 'needle_here' }),
        barePaths: bare('-l', 'needle_here', './'),
        broad: ours('grep', { pattern: 'import', output_mode: 'content' }),
        bareBroad: bare('-n', 'import', './'),
      },
      { rounds: scale === 'quick' ? 3 : 20, warmUps: scale === 'quick' ? 1 : 3 },
    );
    await executor.close();
    const half = { computing: false, goal: NO_MORE_THAN(1.5) } as const;
    const third = { computing: false, goal: NO_MORE_THAN(1.3) } as const;
    return [
      toRow('glob "**"', timing.globAll, ['rg --files', timing.files], half),
      toRow('glob "**/*.ts"', timing.globSome, ['rg --files', timing.files], half),
      toRow('grep, lines, one file in 500', timing.lines, ['rg -n', timing.bareLines], third),
      toRow('grep, paths, one file in 500', timing.paths, ['rg -l', timing.barePaths], third),
      toRow('grep, lines, every file', timing.broad, ['rg -n', timing.bareBroad], third),
    ].map(inMilliseconds);
  });
}

async function runBare(directory: string, args: readonly string[]): Promise<void> {
  const child = spawn(rgPath, ['--no-config', ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.resume();
  await once(child, 'close');
}

function inMilliseconds(row: Row): Row {
  const { ours, beside } = row;
  return {
    ...row,
    unit: 'ms',
    ...(ours === undefined ? {} : { ours: ours / 1000 }),
    ...(beside === undefined || 'skipped' in beside
      ? {}
      : { beside: { ...beside, value: beside.value / 1000 } }),
  };
}

const WORDS = 'const function return import export value index module error result alpha beta'.split(' ');
const EXTENSIONS = ['ts', 'js', 'md', 'json'];

function makeTree(directory: string, modules: number): void {
  const lines = Array.from({ length: 500 }, (_, line) =>
    Array.from({ length: 8 }, (__, word) => WORDS[(line * 7 + word * word * 5) % WORDS.length]).join(' '),
  );
  writeFileSync(join(directory, '.gitignore'), 'node_modules/\n*.log\n/dist/\n');
  let made = 0;
  for (let module = 0; module < modules; module++) {
    const place = join(directory, `package-${Math.floor(module / 20)}`, `module-${module % 20}`);
    mkdirSync(place, { recursive: true });
    for (let file = 0; file < FILES_IN_MODULE; file++, made++) {
      const from = (made * 13) % 400;
      const text = `${lines
        .slice(from, from + 80)
        .join('\n')
        .slice(0, FILE_BYTES)}\n`;
      const needle = made % 500 === 0 ? 'const needle_here = 1;\n' : '';
      writeFileSync(join(place, `file-${file}.${EXTENSIONS[file % EXTENSIONS.length]}`), text + needle);
    }
  }
}
