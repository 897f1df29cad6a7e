// Writes the documents, and the parts of documents, that are generated from code, from examples or from the
// output of the built command. `--check` writes nothing and fails if one is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_KEYS } from '../src/config/config-keys.js';
import { configSchema } from '../src/config/config-schema.js';
import { ERROR_CATALOGUE, EXIT_CODES } from '../src/errors/catalogue.js';
import { configurationDocument } from './configuration-document.js';
import { type BlockSource, fillBlocks } from './fill-blocks.js';
import { formatJson } from './format-json.js';
import { drawScreen } from './picture.js';
import { readRegion } from './read-region.js';
import { runCommandLine } from './run-command-line.js';

const ROOT = join(import.meta.dirname, '..');

const screen = await drawScreen();

const BLOCKS: Readonly<Record<string, BlockSource>> = {
  snippet,
  picture: () => screen,
  help: (command) =>
    ['```text', runCommandLine([...command.split(' '), '--help']).stdout.trimEnd(), '```'].join('\n'),
  table,
};

/** Written from the first to the last line. */
const WHOLE: readonly string[] = ['errors.md', 'configuration.md'];

const DOCUMENTS: readonly { readonly path: string; readonly text: () => string }[] = [
  { path: 'docs/errors.md', text: errorsDocument },
  { path: 'docs/configuration.md', text: configurationDocument },
  { path: 'docs/toolexec.schema.json', text: () => formatJson(configSchema()) },
  ...['README.md', ...guides()].map((path) => ({
    path,
    text: () => fillBlocks(readOrEmpty(join(ROOT, path)), BLOCKS),
  })),
];

const checking = process.argv.includes('--check');
const stale = DOCUMENTS.filter(({ path, text }) => {
  const fresh = text();
  if (withoutTimes(readOrEmpty(join(ROOT, path))) === withoutTimes(fresh)) return false;
  if (!checking) writeFileSync(join(ROOT, path), fresh);
  return true;
});
for (const { path } of stale)
  console.log(checking ? `${path} is stale: run npm run docs` : `${path} written`);
if (checking && stale.length > 0) process.exitCode = 1;

function guides(): readonly string[] {
  return ['docs', 'docs/sdk'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md') && !WHOLE.includes(name))
      .map((name) => `${folder}/${name}`),
  );
}

/** Durations differ from run to run; the rest of the output does not. */
function withoutTimes(text: string): string {
  return text.replace(/\b\d+(?:\.\d+)? m?s\b/g, '# ms');
}

function snippet(place: string): string {
  const [path = '', region = ''] = place.split('#');
  const language = /\.[cm]?[jt]s$/.test(path) ? 'ts' : 'sh';
  return [`\`\`\`${language}`, readRegion(readFileSync(join(ROOT, path), 'utf8'), region), '```'].join('\n');
}

function table(name: string): string {
  if (name !== 'config-keys') throw new Error(`There is no table "${name}".`);
  const rows = Object.entries(CONFIG_KEYS).map(
    ([key, { fallback, meaning }]) => `| \`${key}\` | ${showDefault(fallback)} | ${meaning} |`,
  );
  return ['| key | default | what it decides |', '| --- | --- | --- |', ...rows].join('\n');
}

function showDefault(fallback: unknown): string {
  return fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``;
}

function errorsDocument(): string {
  const errors = Object.entries(ERROR_CATALOGUE).map(
    ([code, { meaning, remedy }]) => `| \`${code}\` | ${meaning} | ${remedy} |`,
  );
  const exits = Object.values(EXIT_CODES).map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  return [
    '# Errors',
    '',
    'Written by `npm run docs` from `src/errors/catalogue.ts`, which types, tests and the command read as well. Codes are',
    'append-only.',
    '',
    'A failed call’s result holds `error: { code, message, hint?, details }`. `message` is for the model; `hint` says what',
    'the developer or the person can do, and is never sent to a provider. `details.executed` says whether the call may have',
    'had effects: `no`, `yes` or `maybe`.',
    '',
    '| code | meaning | remedy |',
    '| --- | --- | --- |',
    ...errors,
    '',
    '## Exit codes of the command',
    '',
    'The first that applies, from the top.',
    '',
    '| exit code | when |',
    '| --- | --- |',
    ...exits,
    '',
  ].join('\n');
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
