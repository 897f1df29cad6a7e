import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS } from './config-keys.js';
import { variableOf } from './config-layer.js';
import { configSchema } from './config-schema.js';
import { parseConfig } from './load-config.js';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const accepts = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }).compile(configSchema());
const PLACE = { file: 'x.toml', directory: '/' };

describe('configSchema()', () => {
  it('knows every key, with what it means and its default', () => {
    for (const [key, { meaning, fallback }] of Object.entries(CONFIG_KEYS)) {
      expect(schemaAt(key)).toMatchObject({ description: meaning });
      expect([key, schemaAt(key).default]).toEqual([key, fallback]);
    }
  });

  it('accepts every default, and no key besides', () => {
    for (const [key, { fallback }] of Object.entries(CONFIG_KEYS)) {
      if (fallback === undefined) continue;
      expect([key, accepts(parse(`${key} = ${JSON.stringify(fallback)}`))]).toEqual([key, true]);
    }
    for (const text of ['x = 1', 'tools.x = 1', 'tools.sandbox.x = 1', 'tools.approval.mode.x = 1']) {
      expect([text, accepts(parse(text))]).toEqual([text, false]);
    }
  });

  it('accepts what the loader accepts, for any value of any key', () => {
    const value = fc.oneof(
      ...[fc.boolean(), fc.integer(), fc.double({ noNaN: true, min: -1e6, max: 1e6 })],
      fc.constantFrom('enabled', 'auto', 'prompt', '', 'a b', 'A=B', 0.0005, 0, [], [''], [[]], {}),
      fc.array(fc.constantFrom('bash', 'a b', '*.x', '', 3, 'A=B')),
      fc.array(
        fc.record(
          {
            name: fc.constantFrom('a', 'a b'),
            description: fc.constantFrom('d', ' '),
            parameters: fc.constantFrom({ type: 'object' }, { type: 'array' }, 3),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 1 },
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(CONFIG_KEYS)), value, (key, given) => {
        const text = `${key} = ${toToml(given)}`;
        expect([text, accepts(parse(text))]).toEqual([text, isLoaded(text)]);
      }),
      { numRuns: 3000 },
    );
  });

  it('is docs/toolexec.schema.json', () => {
    expect(JSON.parse(readFileSync(join(DOCS, 'toolexec.schema.json'), 'utf8'))).toEqual(configSchema());
  });
});

describe('docs/configuration.md', () => {
  const text = readFileSync(join(DOCS, 'configuration.md'), 'utf8');

  it('has an example that the loader and the schema accept', () => {
    const [, example = ''] = /```toml\n([\s\S]*?)```/.exec(text) ?? [];
    expect(example.length).toBeGreaterThan(500);
    const { executor } = parseConfig(example, PLACE);
    expect(executor.definitions).toHaveLength(1);
    expect(accepts(parse(example))).toBe(true);
  });

  it('has a row for every key: its variable if it has one, its default and its meaning', () => {
    for (const [key, { kind, fallback, meaning }] of Object.entries(CONFIG_KEYS)) {
      const named = `| \`${key.slice(key.lastIndexOf('.') + 1)}\` |`;
      const row = text.split('\n').find((line) => line.startsWith(named) && line.includes(`| ${meaning} |`));
      expect(row).toContain(
        `| ${kind.fromText === undefined ? '' : `\`${variableOf(key)}\``} | ${meaning} |`,
      );
      if (fallback !== undefined) expect(row).toContain(`| \`${JSON.stringify(fallback)}\` |`);
    }
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly default?: unknown;
}

function schemaAt(key: string): Schema {
  const whole: Schema = configSchema();
  return key.split('.').reduce<Schema>((at, name) => at.properties?.[name] ?? {}, whole);
}

function isLoaded(text: string): boolean {
  try {
    parseConfig(text, PLACE);
    return true;
  } catch {
    return false;
  }
}

function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, item]) => `${name} = ${toToml(item)}`)
      .join(', ')} }`;
  }
  return typeof value === 'number' ? toTomlNumber(value) : JSON.stringify(value);
}

function toTomlNumber(value: number): string {
  return Object.is(value, -0) ? '0' : String(value).replace(/^(-?\d+)e/, '$1.0e');
}
