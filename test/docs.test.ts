import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillBlocks } from '../scripts/fill-blocks.js';
import { readRegion } from '../scripts/read-region.js';
import { EXIT_CODES } from '../src/errors/catalogue.js';
import { createExecutor } from '../src/index.js';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const DOCUMENTS = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const GUIDES = ['README.md', 'docs/library.md', 'docs/writing-tools.md', 'docs/command.md'];

interface Package {
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest: Package = JSON.parse(read('package.json'));

describe('docs/requirements.md', () => {
  const rows = [...read('docs/requirements.md').matchAll(/^\| ([A-E]\d{3}) \| (.+?) \| (.+) \|$/gm)].map(
    ([, number = '', what = '', shown = '']) => ({ number, what, shown }),
  );

  it('misses no number of this round, and has each once', () => {
    const expected = [
      ...numbers('A', 1, 100),
      ...numbers('C', 37, 57),
      ...numbers('D', 1, 62),
      ...numbers('D', 76, 80),
      ...numbers('D', 94, 132),
    ];
    const listed = rows.map(({ number }) => number);
    expect(expected.filter((number) => !listed.includes(number))).toEqual([]);
    expect(listed.filter((number, index) => listed.indexOf(number) !== index)).toEqual([]);
  });

  it('names something for every row: a test, an example, or that it comes later', () => {
    const bare = rows.filter(({ shown }) => evidenceOf(shown).length === 0 && !shown.includes('*later*'));
    expect(bare).toEqual([]);
  });

  it('names files that exist and hold the quoted words', () => {
    const wrong = rows.flatMap(({ number, shown }) =>
      evidenceOf(shown)
        .filter(({ file, words }) => !existsSync(join(ROOT, file)) || !read(file).includes(words))
        .map(({ file, words }) => `${number}: ${file} “${words}”`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('docs/dependencies.md', () => {
  const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| (.+?) \| (.+?) \| (.*?) ?\|$/gm)];
  const licences = new Map(rows.map(([, name = '', , licence = '']) => [name, licence]));

  it('and package.json name the same packages', () => {
    const pinned = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
    expect([...licences.keys()].sort()).toEqual(pinned.sort());
  });

  it('names as installed with toolexec what package.json says is', () => {
    const [, section = ''] = read('docs/dependencies.md').split(/^## /m);
    const names = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(names).toEqual(Object.keys(manifest.dependencies));
  });

  it('says the licence that each package says itself, and only licences that are allowed', () => {
    for (const [name, licence] of licences) {
      const installed: Pick<Package, 'license'> = JSON.parse(read(`node_modules/${name}/package.json`));
      expect([name, installed.license]).toEqual([name, licence]);
      expect(licence).toMatch(/^(?:MIT|ISC|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0)(?: OR [\w.-]+)?$/);
    }
  });

  it('speaks of exact versions', () => {
    const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

describe('the guides', () => {
  it('name the two commands of a fresh clone, each on one line', () => {
    const lines = read('README.md').split('\n');
    expect(lines).toContain('npm install && npm run example');
    expect(lines).toContain('npm install && npm run check');
  });

  it.each(GUIDES)('%s has no code that does not come from a program', (path) => {
    const outside = read(path).replace(/<!-- (snippet|picture): .*?<!-- \/\1 -->/gs, '');
    expect([...outside.matchAll(/^```(?:ts|js|typescript|javascript|json)$/gm)]).toEqual([]);
  });

  it('link to what is there', () => {
    const dead = DOCUMENTS.flatMap((path) =>
      linksOf(read(path))
        .filter((link) => !/^[a-z]+:|^#/.test(link))
        .filter((link) => !existsSync(resolve(ROOT, dirname(path), link.replace(/#.*$/, ''))))
        .map((link) => `${path}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it('name the exit codes of the command', () => {
    const listed = [...read('README.md').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(listed.sort((a, b) => a - b)).toEqual(
      Object.values(EXIT_CODES)
        .map(({ code }) => code)
        .sort((a, b) => a - b),
    );
  });

  it('name every door of the package, and what it opens on', async () => {
    const doors = Object.keys(manifest.exports).filter((door) => door !== './package.json');
    const table = new Map(
      [...read('docs/library.md').matchAll(/^\| `(toolexec[^`]*)` \| (.+) \|$/gm)].map(
        ([, door, names = '']) => [door, [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()],
      ),
    );
    expect([...table.keys()].sort()).toEqual(doors.map((door) => door.replace('.', 'toolexec')).sort());
    for (const door of doors) {
      const source = door === '.' ? 'index' : door.slice(2);
      const values = Object.keys(await import(join(ROOT, 'src', `${source}.ts`))).sort();
      expect([door, table.get(door.replace('.', 'toolexec'))]).toEqual([door, values]);
    }
  });

  it('name only options that createExecutor takes', async () => {
    const section =
      /### Options of `createExecutor`\n([\s\S]*?)\n###/.exec(read('docs/library.md'))?.[1] ?? '';
    const options = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(options.length).toBeGreaterThan(10);
    for (const name of options) await createExecutor({ [`${name}`]: undefined }).close();
    const unknown: object = { nonsense: undefined };
    expect(() => createExecutor(unknown)).toThrow(/nonsense/);
  });
});

describe('docs/security.md', () => {
  it('has the sections that a reader of security.md looks for', () => {
    const sections = [...read('docs/security.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(sections).toEqual([
      'What is trusted',
      'What is not there yet',
      'What is enforced, and by what',
      'Threats',
      'Reporting',
    ]);
  });
});

describe('docs/decisions', () => {
  const pages = readdirSync(join(ROOT, 'docs', 'decisions')).sort();

  it('are numbered without a gap', () => {
    expect(pages.map((name) => Number(name.slice(0, 4)))).toEqual(pages.map((_, index) => index + 1));
  });

  it.each(pages)('%s is one short page: context, decision, consequences', (name) => {
    const text = read(`docs/decisions/${name}`);
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
      'Context',
      'Decision',
      'Consequences',
    ]);
    expect(text.split('\n').length).toBeLessThanOrEqual(40);
  });
});

describe('fillBlocks()', () => {
  const sources = { shout: (text: string) => text.toUpperCase() };

  it('puts between the comments what the source makes, and the same the second time', () => {
    const filled = fillBlocks('a <!-- shout: hi --> old <!-- /shout --> b', sources);
    expect(filled).toBe('a <!-- shout: hi -->\n\nHI\n\n<!-- /shout --> b');
    expect(fillBlocks(filled, sources)).toBe(filled);
  });

  it('leaves other comments alone, and refuses a block that is not closed', () => {
    expect(fillBlocks('<!-- other: x --> y', sources)).toBe('<!-- other: x --> y');
    expect(() => fillBlocks('<!-- shout: hi -->', sources)).toThrow('is missing');
  });
});

describe('readRegion()', () => {
  it('joins the parts of a region, each without its indentation', () => {
    const source =
      '// #region a\none\n// #endregion a\nx\n  // #region a\n  two\n    three\n  // #endregion a\n';
    expect(readRegion(source, 'a')).toBe('one\n\ntwo\n  three');
  });

  it('refuses a region that is not there, or not closed', () => {
    expect(() => readRegion('', 'a')).toThrow('"a"');
    expect(() => readRegion('// #region a\nx', 'a')).toThrow('"a"');
  });
});

function numbers(letter: string, from: number, to: number): string[] {
  return Array.from(
    { length: to - from + 1 },
    (_, index) => `${letter}${String(from + index).padStart(3, '0')}`,
  );
}

function evidenceOf(shown: string): { readonly file: string; readonly words: string }[] {
  return [...shown.matchAll(/`((?:src|test|examples|bench)\/[^`]+|package\.json)`(?: “([^”]+)”)?/g)].map(
    ([, file = '', words = '']) => ({ file, words }),
  );
}

function linksOf(text: string): string[] {
  return [...text.replace(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}
