import { readdirSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '../src/cli/cli-context.js';
import { COMMANDS, type CommandGroup, type CommandRow } from '../src/cli/commands.js';

/** The options of every command, by its full name. */
async function optionsOf(
  rows: readonly (CommandRow | CommandGroup)[],
  prefix = '',
): Promise<Map<string, readonly string[]>> {
  const known = new Map<string, readonly string[]>();
  for (const row of rows) {
    const name = `${prefix}${row.name}`;
    if ('commands' in row) {
      for (const [inner, options] of await optionsOf(row.commands, `${name} `)) known.set(inner, options);
      if (row.load === undefined) known.set(name, []);
    }
    if (row.load === undefined) continue;
    const command = new Command(row.name);
    const { define } = await row.load();
    // The context is read only when the command runs.
    define(command, {} as CliContext, () => {});
    known.set(
      name,
      command.options.flatMap(({ long }) => (long == null ? [] : [long])),
    );
  }
  return known;
}

function documents(): readonly string[] {
  const names = readdirSync('docs', { recursive: true, encoding: 'utf8' });
  return ['README.md', ...names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
}

/** Every command line of the documentation that begins with `toolexec`. */
function commandLines(): readonly { readonly file: string; readonly line: string }[] {
  return documents().flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^```(?:sh|bash|console|text)\n(.*?)^```/gms)].flatMap(
      ([, block = '']) =>
        [...block.matchAll(/^\s*(?:\$ )?(?:\w+=\S+ )*toolexec ([a-z].*)$/gm)].map(([, line = '']) => ({
          file,
          line,
        })),
    ),
  );
}

describe('the command lines of the documentation', async () => {
  const known = await optionsOf(COMMANDS);

  it('name commands and options that there are', () => {
    const lines = commandLines();
    expect(lines.length).toBeGreaterThan(50);
    const wrong = lines.filter(({ line }) => {
      // Quoted words, comments, and another program's line after `--` are not our options.
      const words =
        line
          .replace(/'[^']*'|"[^"]*"/g, 'quoted')
          .split(/\s+(?:#|\||>|--\s)|\s{2,}/)[0]
          ?.split(/\s+/) ?? [];
      const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => known.has(candidate));
      const options = name === undefined ? undefined : known.get(name);
      const used = words.filter((word) => word.startsWith('--') && word !== '--help');
      return options === undefined || used.some((word) => !options.includes(word.replace(/=.*/, '')));
    });
    expect(wrong).toEqual([]);
  });
});
