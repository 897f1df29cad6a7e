import { CONFIG_KEYS } from '../../config/config-keys.js';

/** What a message of the library says to a program, and what a person at the command types for it. */
const PHRASES: readonly (readonly [library: string, command: string])[] = [
  [', or give the option apiKey', ''],
  [': use the option headers', ''],
  ['options.root', '--root'],
  [
    'Give an approver, or allow it by a rule.',
    'Answer it at a terminal or with --yes, or allow it by a rule.',
  ],
];

/** A message of the library in the command's words: options by their keys in `toolexec.toml`, or as `--…`. */
export function asTyped(message: string): string {
  const phrased = PHRASES.reduce((text, [library, command]) => text.replaceAll(library, command), message);
  return phrased.replaceAll(OPTION_PATH, (path) => KEYS.get(path.replace(/^options\./, '')) ?? path);
}

const OPTION_PATH = /\b(?:options\.)?[a-z][A-Za-z]*\.[a-z][A-Za-z]*\b/g;

/** `limits.maxToolCallsPerBatch` is `tools.max_tool_calls_per_batch`. */
const KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries(CONFIG_KEYS).flatMap(([key, { option }]) =>
    option.startsWith('executor.') ? [[option.slice('executor.'.length), key] as const] : [],
  ),
);
