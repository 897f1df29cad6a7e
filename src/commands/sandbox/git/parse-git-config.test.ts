import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { formatGitConfig, type GitSetting, parseGitConfig } from './parse-git-config.js';

const place = mkdtempSync(join(tmpdir(), 'git-config-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** The settings as git itself reads them, in the form `section.subsection.key` and value. */
function asGit(text: string): readonly (readonly [string, string | undefined])[] {
  const file = join(place, 'config');
  writeFileSync(file, text);
  const said = execFileSync('git', ['config', '--file', file, '--no-includes', '--null', '--list'], {
    encoding: 'utf8',
  });
  return said
    .split('\0')
    .slice(0, -1)
    .map((entry) => {
      const at = entry.indexOf('\n');
      return at < 0 ? [entry, undefined] : [entry.slice(0, at), entry.slice(at + 1)];
    });
}

const named = ({ section, subsection, key, value }: GitSetting): readonly [string, string | undefined] => [
  [section, ...(subsection === undefined ? [] : [subsection]), key].join('.'),
  value,
];

describe('parseGitConfig', () => {
  it.each([
    '[user]\n\tname = Ada Lovelace\n  email=ada@example.org # hers\n',
    '[a] b = 1\n[A "Sub.Section"]\nKeY = x ; y\n[core]\n\tbare\n\tempty =\n',
    '[a]\nb = "two  words " and  more  \nc = "a # b" # c\nd = x\\ty\\n\\"z\\"\\\\\n',
    '[a]\nb = one \\\n   two\\\n three\nc = 4\n',
    '# c\n; d\n\n[a "q\\"uo\\\\te"]\n  b-c1 = d\n',
    '\ufeff[a]\r\nb = c\r\nd = e\r\n',
    '[include]\npath = nowhere\n[url "x"]\ninsteadOf = y\n',
  ])('reads the same as git: %j', (text) => {
    expect(parseGitConfig(text).map(named)).toEqual(asGit(text));
  });

  it('reads its own output back, and so does git', () => {
    const value = fc.string({
      unit: fc.constantFrom('a', 'Z', ' ', '"', '\\', '\t', '#', ';', '=', '[', ']', "'", 'ü', '😀'),
    });
    const setting = fc.record({
      section: fc.constantFrom('user', 'core'),
      subsection: fc.option(value, { nil: undefined }),
      key: fc.constantFrom('name', 'x-1'),
      value: fc.option(value, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(setting, { maxLength: 5 }), (settings) => {
        const text = formatGitConfig(settings);
        expect(parseGitConfig(text)).toEqual(settings);
        expect(asGit(text)).toEqual(settings.map(named));
      }),
      { numRuns: 40 },
    );
  });

  it('leaves out a value with a line break', () => {
    const evil = {
      section: 'user',
      subsection: undefined,
      key: 'name',
      value: 'x\n[core]\n\tfsmonitor = evil',
    };
    expect(formatGitConfig([evil, { ...evil, value: 'y', subsection: 'a\nb' }])).toBe('');
  });

  it('accepts any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => Array.isArray(parseGitConfig(text))));
  });
});
