import type { Command, Option } from 'commander';

/**
 * Rewrites `--root a b FILE` as `FILE --root a b`: otherwise a list option takes the file too. Missing
 * arguments of the command are taken from the end of the last list with more than one value.
 */
export function separateArguments(words: readonly string[], command: Command): string[] {
  const end = words.indexOf('--');
  const [sorted, rest] = end === -1 ? [words, []] : [words.slice(0, end), words.slice(end)];
  const { options, positionals } = sortWords(sorted, command);
  const given = positionals.length + Math.max(0, rest.length - 1);
  for (const { values, place } of options.toReversed()) {
    const missing = command.registeredArguments.length - given;
    const taken = Math.min(Math.max(0, missing), Math.max(0, values.length - 1));
    if (taken === 0) continue;
    // Arguments typed before the list stay before those taken from it.
    positionals.splice(place, 0, ...values.splice(values.length - taken));
    break;
  }
  return [...positionals, ...options.flatMap(({ flag, values }) => [flag, ...values]), ...rest];
}

interface TypedOption {
  readonly flag: string;
  readonly values: string[];
  /** How many of the command's own arguments precede it. */
  readonly place: number;
}

interface SortedWords {
  readonly options: readonly TypedOption[];
  readonly positionals: string[];
}

function sortWords(words: readonly string[], command: Command): SortedWords {
  const options: TypedOption[] = [];
  const positionals: string[] = [];
  let open: { readonly values: string[]; readonly takesFlags: boolean; room: number } | undefined;
  for (const word of words) {
    if (open !== undefined && open.room > 0 && (open.takesFlags || !isFlag(word))) {
      open.values.push(word);
      open.room--;
    } else if (isFlag(word)) {
      const values: string[] = [];
      options.push({ flag: word, values, place: positionals.length });
      const option = findOption(word, command);
      open = { values, room: roomOf(option), takesFlags: option?.required === true && !option.variadic };
    } else {
      positionals.push(word);
    }
  }
  return { options, positionals };
}

// `-` is standard input.
function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

function findOption(flag: string, command: Command): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short);
}

/** The maximum number of values of an option. */
function roomOf(option: Option | undefined): number {
  if (option?.variadic === true) return Number.POSITIVE_INFINITY;
  return option?.required === true || option?.optional === true ? 1 : 0;
}
