import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { asTyped } from '../src/cli/display/as-typed.js';
import { CONFIG_KEYS } from '../src/config/config-keys.js';

const SOURCE = resolve(import.meta.dirname, '../src');

/** Names in messages that no configuration has: of functions, of declarations, and of other formats. */
const NO_OPTIONS = new Set([
  'apiKey',
  'busyTimeoutMs',
  'createShell',
  'createTape',
  'defineTool',
  'discoverTools',
  'dryRun',
  'functionCall',
  'hardLinks',
  'hookSpecificOutput',
  'maxAgeSeconds',
  'maxLength',
  'mediaType',
  'multiSelect',
  'onChange',
  'onLoss',
  'postgresJournal',
  'privateHosts',
  'promptSideEffects',
  'redactArguments',
  'requestState',
  'requiresApproval',
  'sideEffecting',
  'timeoutMs',
  'toISOString',
  'updatedInput',
]);

/** These contain programs, styles or words of JSON Schema, but no messages. */
const WITHOUT_MESSAGES =
  /^(?:testing|page|providers\/describe|schema\/(?:look-over|freeze-schema))|cli\/init\/template|tool-templates|spawn-server-program|port-forwarder|supervise-command|environment-rules|create-redactor|secret-shapes|policy\/shell\/programs|later-code\/what-runs/;

const CAMEL_CASE = /\b[a-z]+[A-Z][A-Za-z]*\b/g;
/** `max_depth` is also an argument of a tool. */
const KEY_OF_FILE = new RegExp(
  String.raw`under \[|\b(?:${Object.keys(CONFIG_KEYS)
    .flatMap((key) => [key, key.slice(key.lastIndexOf('.') + 1)])
    .filter((name) => /[._]/.test(name) && name !== 'max_depth')
    .map((name) => name.replaceAll('.', String.raw`\.`))
    .join('|')})\b`,
);

describe('an option in a message', () => {
  const messages = messagesIn(SOURCE);

  it('is looked for in what there is', () => {
    expect(messages.length).toBeGreaterThan(1000);
    expect(camelCased('Raise limits.maxToolCallsPerBatch.')).toEqual([]);
    expect(camelCased('Raise maxToolCallsPerBatch.')).toEqual(['maxToolCallsPerBatch']);
    expect(KEY_OF_FILE.test('Set expose_ports to true.')).toBe(true);
  });

  it('is named by its whole path in the library, so that the command can show its key', () => {
    const found = messages
      .filter(({ file }) => !file.startsWith('cli/') && !file.endsWith('/known-options.ts'))
      .flatMap(({ place, text }) => camelCased(text).map((name) => `${place}: ${name}`));
    expect(found).toEqual([]);
  });

  it('is never a key of toolexec.toml in the library', () => {
    const found = messages.filter(
      ({ file, text }) => !/^(?:cli|config)\//.test(file) && KEY_OF_FILE.test(text),
    );
    expect(found).toEqual([]);
  });

  it('is never an option of the library in the command', () => {
    const found = messages
      .filter(({ file }) => /^(?:cli|config)\//.test(file) && file !== 'cli/display/as-typed.ts')
      .flatMap(({ place, text }) => camelCased(text).map((name) => `${place}: ${name}`));
    expect(found).toEqual([]);
  });
});

/** The camel-cased names in the command's output. */
function camelCased(message: string): readonly string[] {
  return (asTyped(message).match(CAMEL_CASE) ?? []).filter((name) => !NO_OPTIONS.has(name));
}

interface Message {
  readonly file: string;
  /** The name with its line. */
  readonly place: string;
  readonly text: string;
}

function messagesIn(folder: string): readonly Message[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|fixtures\//.test(file))
    .filter((file) => !WITHOUT_MESSAGES.test(file))
    .flatMap((file) => {
      const source = ts.createSourceFile(
        file,
        readFileSync(join(folder, file), 'utf8'),
        ts.ScriptTarget.Latest,
        true,
      );
      return textsOf(source).map(({ line, text }) => ({ file, place: `${file}:${line}`, text }));
    });
}

/** The texts of several words, with `…` for inserted values. */
function textsOf(source: ts.SourceFile): readonly { readonly line: number; readonly text: string }[] {
  const texts: { line: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    const text = textOf(node);
    if (text !== undefined && /[a-z] [a-z]/i.test(text) && !/\bSELECT\b|\bPRAGMA\b/.test(text))
      texts.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}
