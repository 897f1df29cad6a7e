import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillBlocks } from '../scripts/fill-blocks.js';
import { readRegion } from '../scripts/read-region.js';
import { EXIT_CODES } from '../src/errors/catalogue.js';
import { builtinTools, createExecutor } from '../src/index.js';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const DOCUMENTS = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'SECURITY.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** Written completely by a script, from the sources. */
const WRITTEN = ['docs/errors.md', 'docs/configuration.md'];
/** The pages for users: each answers a question. */
const GUIDES = DOCUMENTS.filter(
  (path) => /^README|^docs\/(?:sdk\/)?[\w-]+\.md$/.test(path) && !WRITTEN.includes(path),
);
/** Reference pages: readers look things up in them. */
const REFERENCES = [
  'docs/command.md',
  'docs/dependencies.md',
  'docs/policy.md',
  'docs/requirements.md',
  'docs/library.md',
  'docs/security.md',
];

interface Package {
  readonly version: string;
  readonly license: string;
  readonly homepage: string;
  readonly bugs: string;
  readonly repository: { readonly url: string };
  readonly engines: { readonly node: string };
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest: Package = JSON.parse(read('package.json'));

describe('docs/requirements.md', () => {
  const rows = [...read('docs/requirements.md').matchAll(/^\| ([A-G]\d{3}) \| (.+?) \| (.+) \|$/gm)].map(
    ([, number = '', what = '', shown = '']) => ({ number, what, shown }),
  );

  it('misses no number, and has each once', () => {
    const expected = [
      ...numbers('A', 1, 100),
      ...numbers('B', 1, 50),
      ...numbers('C', 1, 57),
      ...numbers('D', 1, 146),
      ...numbers('E', 1, 47),
      ...numbers('F', 1, 29),
      ...numbers('G', 1, 26),
    ];
    const later = numbersOf(read('docs/requirements.md').split('\n## Not built yet\n')[1] ?? '');
    const listed = rows.map(({ number }) => number);
    expect(expected.filter((number) => !listed.includes(number) && !later.includes(number))).toEqual([]);
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

  it('link to what is there, also to the headings', () => {
    const dead = DOCUMENTS.flatMap((path) =>
      linksOf(read(path))
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [place = '', heading] = link.split('#');
          const target = place === '' ? path : join(dirname(path), place);
          if (!existsSync(join(ROOT, target))) return true;
          return heading !== undefined && !headingsOf(read(target)).includes(heading);
        })
        .map((link) => `${path}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it('link in the package to what is in the package', () => {
    const dead = DOCUMENTS.filter(isPacked).flatMap((path) =>
      linksOf(read(path))
        .filter((link) => !/^(?:[a-z]+:|#)/.test(link))
        .filter((link) => !isPacked(join(dirname(path), link.replace(/#.*$/, ''))))
        .map((link) => `${path}: ${link}`),
    );
    expect(dead).toEqual([]);
  }, 120_000);

  it('are all reached from the README, or from a page that it links to', () => {
    const reached = new Set(['README.md']);
    for (const path of reached)
      for (const link of linksOf(read(path)))
        if (/^[^:]+\.md(?:#.*)?$/.test(link)) reached.add(join(dirname(path), link.replace(/#.*$/, '')));
    expect(GUIDES.filter((path) => isPacked(path) && !reached.has(path))).toEqual([]);
  }, 120_000);

  it('have a README of at most 200 lines', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(200);
  });

  it.each(GUIDES.filter((path) => !REFERENCES.includes(path)))(
    '%s is read in about three minutes',
    (path) => {
      const text = read(path).replace(/```.*?```/gs, '');
      expect(text.split(/\s+/).length).toBeLessThan(1_100);
    },
  );

  it('quote in the README what docs/performance.md says', () => {
    const [call, journal] = ['the same, beside a peer', 'side effect, journal in a file'].map((what) => {
      const row = read('docs/performance.md')
        .split('\n')
        .find((line) => line.startsWith(`| ${what}`));
      const [, ours, beside, ratio] = (row ?? '')
        .split('|')
        .slice(1)
        .map((cell) => Number(/[\d.]+(?= µs|$)/.exec(cell.trim())?.[0]));
      return { ours, beside, ratio };
    });
    const [, ours, beside, ratio] =
      /takes (\d+) µs; .* takes (\d+) µs .* takes\s([\d.]+) times/s.exec(read('README.md')) ?? [];
    expect([ours, beside, ratio]).toEqual([
      call?.ours?.toFixed(0),
      call?.beside?.toFixed(0),
      journal?.ratio?.toFixed(1),
    ]);
  });

  it('name every built-in tool in the README', () => {
    const [, table = ''] = /\| tool \|.*\n\| --- .*\n((?:\|.*\n)+)/.exec(read('README.md')) ?? [];
    const names = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(
      builtinTools({ agents: true })
        .map(({ name }) => name)
        .sort(),
    );
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
    // The package that `toolexec/mastra` needs is not installed here.
    for (const door of doors.filter((each) => each !== './mastra')) {
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
      'What is enforced, and by what',
      'How file access is contained',
      'How calls and output are contained',
      'Limits of running in your process',
      'Reporting',
    ]);
  });

  it('names, for each of its claims in words, tests that are there', () => {
    const [, words = ''] =
      /## How file access is contained\n\n.*?\n\n(.*)What commands can reach/s.exec(
        read('docs/security.md'),
      ) ?? [];
    const claims = words.split(/\n\n+/).filter((part) => part !== '' && !part.startsWith('## '));
    expect(claims.length).toBeGreaterThan(9);
    for (const claim of claims) {
      const tests = [...claim.matchAll(/`((?:src|test)\/[\w/.-]+\.test\.ts)`/g)].map(([, path = '']) => path);
      const missing = tests.filter((path) => !existsSync(join(ROOT, path)));
      expect([claim.slice(0, 40), tests.length > 0, missing]).toEqual([claim.slice(0, 40), true, []]);
    }
  });

  it('says the limits of isolation: what an error, a loop, an add-on or a timeout of a tool can do (D056)', () => {
    const [, section = ''] =
      /## Limits of running in your process\n(.*?)\n## /s.exec(read('docs/security.md')) ?? [];
    for (const limit of [
      'timeout',
      'loop that never yields blocks the whole process',
      'native add-on',
      'async context',
    ])
      expect(section).toContain(limit);
    expect(read('docs/security.md')).toContain('| A malicious tool | Nothing: it runs in your process');
  });
});

describe('package.json', () => {
  it('says where the project lives, and CONTRIBUTING.md that these are placeholders', () => {
    const { repository, homepage, bugs } = manifest;
    for (const place of [repository.url, homepage, bugs]) {
      expect(place).toContain('github.com/toolexec-placeholder/toolexec');
      expect(read('CONTRIBUTING.md')).toContain('toolexec-placeholder');
    }
  });

  it('ships the guides, and not the table of requirements', () => {
    expect(manifest.files).toContain('docs');
    expect(manifest.files).toContain('!docs/requirements.md');
  });
});

describe('.github/workflows/check.yml', () => {
  const workflow = read('.github/workflows/check.yml');

  it('runs what CONTRIBUTING.md says, on every even version of Node from that of "engines"', () => {
    const [, list = ''] = /node: \[(.*)\]/.exec(workflow) ?? [];
    const versions = list.split(',').map(Number);
    const [, oldest] = /^>=(\d+)\./.exec(manifest.engines.node) ?? [];
    expect(versions).toEqual([Number(oldest), Number(oldest) + 2, Number(oldest) + 4]);
    expect(workflow).toContain('run: npm install && npm run check && npm run soak:short\n');
    expect(read('CONTRIBUTING.md')).toContain('npm install && npm run check\n');
  });

  it('runs the tests that start no process on macOS and Windows', () => {
    expect(workflow).toMatch(/os: \[macos-\S+, windows-\S+\]/);
    expect(workflow).toContain('npx vitest run --project unit\n');
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

  it('keeps what is there where the source makes nothing', () => {
    const text = 'a <!-- shout: hi --> old <!-- /shout --> b';
    expect(fillBlocks(text, { shout: () => undefined })).toBe(text);
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

/** Numbers and ranges of numbers: "C016, E001–E041". */
function numbersOf(text: string): string[] {
  return [...text.matchAll(/\b([A-G])(\d{3})(?:–[A-G](\d{3}))?/g)].flatMap(
    ([, letter = '', from, to = from]) => numbers(letter, Number(from), Number(to)),
  );
}

function evidenceOf(shown: string): { readonly file: string; readonly words: string }[] {
  return [...shown.matchAll(/`((?:src|test|examples|bench)\/[^`]+|package\.json)`(?: “([^”]+)”)?/g)].map(
    ([, file = '', words = '']) => ({ file, words }),
  );
}

let packed: readonly string[] | undefined;

/** Whether npm packs a file, or any file of a directory. */
function isPacked(path: string): boolean {
  packed ??= listPacked();
  const directory = `${path.replace(/\/$/, '')}/`;
  return packed.some((file) => file === path || file.startsWith(directory));
}

function listPacked(): readonly string[] {
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [found]: { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(listed);
  return found?.files.map(({ path }) => path) ?? [];
}

function linksOf(text: string): string[] {
  return [...text.replace(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
