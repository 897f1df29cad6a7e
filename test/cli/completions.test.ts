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

describe.skipIf(!has('bash'))('completions of bash (skipped where there is none)', () => {
  const complete = (...words: string[]): string[] =>
    lines(
      'bash',
      ['--noprofile', '--norc'],
      `source <(toolexec completions bash)
       COMP_WORDS=(toolexec ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
       _toolexec; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );

  it('offer commands, options, tools and files', () => {
    expect(complete('pl')).toEqual(['plan']);
    expect(complete('call', 'read')).toEqual(['read_file']);
    expect(complete('run', '--dry')).toEqual(['--dry-run']);
    expect(complete('run', 'res')).toEqual(['response.json']);
    expect(complete('run', '--root', 'work')).toEqual(['workspace']);
  });

  it('run no part of the command line', () => {
    expect(complete('call', '$(touch ran)', '')).toEqual([]);
    expect(complete('call', '`touch ran`', '; touch ran', '')).toEqual([]);
    expect(complete('run', 'ra')).toEqual([]);
  });
});

describe.skipIf(!has('zsh'))('completions of zsh (skipped where there is none)', () => {
  const complete = (...words: string[]): string[] =>
    lines(
      'zsh',
      ['-f'],
      `compdef() { :; }
       _describe() { print -rl -- "\${(@P)2}"; }
       _files() { print -r -- "files $*"; }
       source <(toolexec completions zsh)
       words=(toolexec ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}
       _toolexec`,
    );

  it('offer commands, options, tools and files with their meanings', () => {
    expect(complete('pl')).toEqual(['plan:say what would happen, touch nothing']);
    expect(complete('call', 'list_d')).toEqual([expect.stringMatching(/^list_directory:\w/)]);
    expect(complete('run', '')).toEqual(['files ']);
    expect(complete('run', '--root', '')).toEqual(['files -/']);
  });

  it('run no part of the command line', () => {
    expect(complete('call', '$(touch ran)', '')).toEqual([]);
    expect(lines('zsh', ['-f'], 'ls')).not.toContain('ran');
  });
});

describe.skipIf(!has('fish'))('completions of fish (skipped where there is none)', () => {
  const complete = (line: string): string[] =>
    lines('fish', ['--no-config'], `toolexec completions fish | source; complete -C ${JSON.stringify(line)}`);

  it('offer commands, options, tools and files', () => {
    expect(complete('toolexec pl')).toEqual(['plan\tsay what would happen, touch nothing']);
    expect(complete('toolexec call write')).toEqual([expect.stringMatching(/^write_file\t\w/)]);
    expect(complete('toolexec run --dry')).toEqual([expect.stringMatching(/^--dry-run\t/)]);
    expect(complete('toolexec run res')).toEqual(['response.json']);
  });
});
