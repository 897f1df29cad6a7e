import { analyzeCommand } from '../../src/policy/shell/analyze-command.js';
import type { Oracle, ShellName } from './oracle.js';

/** A command that the shell ran, though the analysis said `allow` and did not name it. */
export interface Miss {
  readonly text: string;
  readonly ran: readonly string[];
  readonly commands: readonly (readonly string[])[];
}

export interface Tally {
  readonly misses: readonly Miss[];
  /**
   * The number of allowed texts, and of the commands that the shell ran for them: the size of the comparison.
   */
  readonly allowed: number;
  readonly compared: number;
}

export function findMisses(oracle: Oracle, shell: ShellName, texts: readonly string[]): Tally {
  const dialect = shell === 'bash' ? 'bash' : 'sh';
  const allowed = texts
    .map((text) => ({ text, ...analyzeCommand(text, dialect) }))
    .filter(({ verdict }) => verdict === 'allow');
  const runs = oracle.run(allowed.map(({ text }) => text));
  let compared = 0;
  const misses = allowed.flatMap(({ text, commands }, index) => {
    const ran = runs[index] ?? [];
    compared += ran.length;
    const missed = ran.find((argv) => !isNamed(argv, commands, text));
    // A process left by an earlier text may have appeared here: alone, the text must start it again.
    const again = missed && oracle.run([text])[0]?.find((argv) => !isNamed(argv, commands, text));
    return again === undefined ? [] : [{ text, ran: again, commands }];
  });
  return { misses, allowed: allowed.length, compared };
}

/** Unknown words match any others; `xargs` and `find` add words. */
function isNamed(argv: readonly string[], commands: readonly (readonly string[])[], text: string): boolean {
  const adds = /xargs|find/.test(text);
  return commands.some((words) => {
    const [name = ''] = words;
    if (name.slice(name.lastIndexOf('/') + 1) !== argv[0]) return false;
    const open = words.findIndex((word, index) => index > 0 && /[$`*?[{~<>@…]|\{\}/.test(word));
    const known = open === -1 ? words : words.slice(0, open);
    // The input of `xargs` may be missing: the shell may have found no program that writes it.
    const expected = adds ? known.slice(0, argv.length) : known;
    if (!expected.slice(1).every((word, index) => word === argv[index + 1])) return false;
    return open !== -1 || adds || words.length === argv.length;
  });
}
