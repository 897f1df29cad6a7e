import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useToolexec } from './toolexec.js';

const toolexec = useToolexec();
beforeEach(() => {
  mkdirSync(join(toolexec.folder, 'bin'));
  const command = join(toolexec.folder, 'bin', 'toolexec');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${toolexec.main}" "$@"\n`);
  chmodSync(command, 0o755);
  mkdirSync(join(toolexec.root, 'workspace'));
  writeFileSync(join(toolexec.root, 'response.json'), '[]');
});

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** The lines that a script of this shell prints. */
function lines(shell: string, flags: readonly string[], script: string): string[] {
  const path = `${join(toolexec.folder, 'bin')}:${process.env.PATH ?? ''}`;
  const out = execFileSync(shell, [...flags, '-c', script], {
    cwd: toolexec.root,
    env: toolexec.environment({ PATH: path }),
    encoding: 'utf8',
  });
  return out.split('\n').filter((line) => line !== '');
}

/** The lines that each of these scripts prints, in one shell: each start of toolexec for its completions takes long. */
function listsOf(
  shell: string,
  flags: readonly string[],
  first: string,
  scripts: readonly string[],
): string[][] {
  const all = lines(shell, flags, [first, ...scripts.map((script) => `${script}\necho ----`)].join('\n'));
  const lists: string[][] = [[]];
  for (const line of all) {
    if (line === '----') lists.push([]);
    else lists.at(-1)?.push(line);
  }
  return lists.slice(0, -1);
}

const inQuotes = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

describe.skipIf(!has('bash'))('completions of bash (skipped where there is none)', () => {
  const complete = (...commandLines: string[][]): string[][] =>
    listsOf(
      'bash',
      ['--noprofile', '--norc'],
      'source <(toolexec completions bash)',
      commandLines.map(
        (words) =>
          `COMPREPLY=(); COMP_WORDS=(toolexec ${inQuotes(words)}); COMP_CWORD=${words.length}
           _toolexec; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ),
    );

  it('offer commands, options, tools and files', () => {
    expect(
      complete(['pl'], ['call', 'read'], ['run', '--dry'], ['run', 'res'], ['run', '--root', 'work']),
    ).toEqual([['plan'], ['read_file'], ['--dry-run'], ['response.json'], ['workspace']]);
  });

  it('run no part of the command line', () => {
    expect(
      complete(['call', '$(touch ran)', ''], ['call', '`touch ran`', '; touch ran', ''], ['run', 'ra']),
    ).toEqual([[], [], []]);
  });
});

describe.skipIf(!has('zsh'))('completions of zsh (skipped where there is none)', () => {
  const complete = (...commandLines: string[][]): string[][] =>
    listsOf(
      'zsh',
      ['-f'],
      `compdef() { :; }
       _describe() { print -rl -- "\${(@P)2}"; }
       _files() { print -r -- "files $*"; }
       source <(toolexec completions zsh)`,
      commandLines.map(
        (words) => `words=(toolexec ${inQuotes(words)}); CURRENT=${words.length + 1}; _toolexec`,
      ),
    );

  it('offer commands, options, tools and files with their meanings', () => {
    expect(complete(['pl'], ['call', 'list_d'], ['run', ''], ['run', '--root', ''])).toEqual([
      ['plan:say what would happen, touch nothing'],
      [expect.stringMatching(/^list_directory:\w/)],
      ['files '],
      ['files -/'],
    ]);
  });

  it('run no part of the command line', () => {
    expect(complete(['call', '$(touch ran)', ''])).toEqual([[]]);
    expect(lines('zsh', ['-f'], 'ls')).not.toContain('ran');
  });
});

describe.skipIf(!has('fish'))('completions of fish (skipped where there is none)', () => {
  const complete = (...commandLines: string[]): string[][] =>
    listsOf(
      'fish',
      ['--no-config'],
      'toolexec completions fish | source',
      commandLines.map((line) => `complete -C ${JSON.stringify(line)}`),
    );

  it('offer commands, options, tools and files', () => {
    expect(complete('toolexec pl', 'toolexec call write', 'toolexec run --dry', 'toolexec run res')).toEqual([
      ['plan\tsay what would happen, touch nothing'],
      [expect.stringMatching(/^write_file\t\w/)],
      [expect.stringMatching(/^--dry-run\t/)],
      ['response.json'],
    ]);
  });
});
