import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';

const directory = dirname(builtCommand());
const parts = readdirSync(directory).filter((name) => name.endsWith('.cjs'));
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
);

describe('the command as it is shipped', () => {
  it('needs nothing but itself, Node, and packages that are installed with it', () => {
    const allowed = new Set([
      ...parts.map((name) => `./${name}`),
      ...builtinModules.flatMap((name) => [name, `node:${name}`]),
      ...Object.keys(dependencies),
    ]);
    const asked = parts.flatMap((name) =>
      [
        ...readFileSync(join(directory, name), 'utf8').matchAll(
          /(?<![.\w'"`])(?:require|import)\("([^"]+)"\)/g,
        ),
      ].map(([, asked]) => asked ?? ''),
    );
    expect(asked.length).toBeGreaterThan(parts.length);
    expect([...new Set(asked)].filter((name) => !allowed.has(name) && !allowed.has(packageOf(name)))).toEqual(
      [],
    );
  });

  it('starts with the little that help needs', () => {
    const start = readFileSync(join(directory, 'toolexec.cjs'), 'utf8');
    expect(start.startsWith('#!/usr/bin/env node\n')).toBe(true);
    expect(start).toMatch(/Promise\.resolve\(\)\.then\(\(\)=>require\("\.\/run-\w+\.cjs"\)\)/);
    expect(start).not.toMatch(/uniqueItems|PRAGMA|braces stand for/);
  });

  it('brings along the licence of every package that was put into it', () => {
    const licenses = readFileSync(join(directory, 'LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'ajv', 're2js', 'brace-expansion', 'smol-toml', 'unbash'])
      expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\([\\w.-]+\\)$`, 'm'));
    expect(licenses).toContain('Permission is hereby granted, free of charge');
  });
});

/** `ajv` of `ajv/dist/runtime/equal`: what ajv writes into the validators that can be saved, which ours are not. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}
