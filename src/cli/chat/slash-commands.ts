import { nearestName } from '../../base/nearest-name.js';

/** The commands that a person can type. */
export const SLASH_COMMANDS = {
  help: { takes: '', meaning: 'this list' },
  undo: {
    takes: '[CALL]',
    meaning: 'take back what a call changed; without CALL the last one',
  },
  diff: { takes: '[CALL]', meaning: 'what the calls of this conversation changed' },
  model: { takes: '[PROVIDER/NAME]', meaning: 'which model answers, or another one from now on' },
  clear: { takes: '', meaning: 'a new conversation; this one stays in the journal' },
  resume: { takes: '[ID]', meaning: 'continue another conversation; without ID, list the latest' },
  quit: { takes: '', meaning: 'leave; so does Ctrl-D' },
} as const;

export type SlashName = keyof typeof SLASH_COMMANDS;

export type PersonLine =
  | { readonly kind: 'empty' }
  | { readonly kind: 'said'; readonly text: string }
  /** `!command`: the person runs it in the sandbox. */
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'slash'; readonly name: SlashName; readonly rest: string }
  | { readonly kind: 'unknown'; readonly message: string };

/** Interprets a typed line. A path with a leading slash is a message for the model. */
export function readPersonLine(line: string): PersonLine {
  const text = line.trim();
  if (text === '') return { kind: 'empty' };
  if (text.startsWith('!')) {
    const command = text.slice(1).trim();
    return command === ''
      ? { kind: 'unknown', message: 'Write a command behind the !, such as !git status.' }
      : { kind: 'shell', command };
  }
  const [, name = '', rest = ''] = /^\/([A-Za-z]+)(?:\s+([^\n]*))?$/.exec(text) ?? [];
  if (name === '') return { kind: 'said', text: line };
  const known = name === 'exit' ? 'quit' : name;
  if (isSlashName(known)) return { kind: 'slash', name: known, rest: rest.trim() };
  const nearest = nearestName(name, Object.keys(SLASH_COMMANDS));
  const hint = nearest === undefined ? 'See /help.' : `Did you mean /${nearest}? See /help.`;
  return { kind: 'unknown', message: `There is no /${name}. ${hint}` };
}

/** The completions of a line for the tab key. */
export function completeSlash(line: string): readonly string[] {
  if (!line.startsWith('/')) return [];
  return Object.keys(SLASH_COMMANDS)
    .map((name) => `/${name}`)
    .filter((name) => name.startsWith(line));
}

export const HELP = [
  ...Object.entries(SLASH_COMMANDS).map(([name, { takes, meaning }]) => {
    return `  ${`/${name} ${takes}`.trim().padEnd(24)}${meaning}`;
  }),
  `  ${'!COMMAND'.padEnd(24)}run a command yourself, in the sandbox; the model sees what it printed`,
  `  ${'Ctrl-C'.padEnd(24)}cancel the turn, or clear the line`,
  `  ${'Ctrl-O'.padEnd(24)}more of the last output`,
  `  ${'\\ at the end'.padEnd(24)}continue on the next line`,
  '',
].join('\n');

function isSlashName(name: string): name is SlashName {
  return Object.hasOwn(SLASH_COMMANDS, name);
}
