import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Executor } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { addEntries, type Entries, searchedTree } from '../executor/fixtures/search-fixture.js';

async function glob(executor: Executor, args: JsonObject): Promise<string[]> {
  const result = await executor.execute('glob', args);
  expect(result.error).toBeUndefined();
  return result.output === 'no matches found' ? [] : result.output.split('\n');
}

/** Empty files with these names. */
function files(...names: string[]): Entries {
  return Object.fromEntries(names.map((name) => [name, '']));
}

describe('glob', () => {
  it.each([
    ['**/*.go', ['main.go', 'src/app.go', 'src/components/button.go', 'test/test.go']],
    ['*.go', ['main.go']],
    ['src/*.go', ['src/app.go']],
    ['{src,test}/**', ['src/app.go', 'src/components/button.go', 'test/test.go']],
    ['**/[ab]*.go', ['src/app.go', 'src/components/button.go']],
    ['**/app.{go,ts}', ['src/app.go']],
    ['?ain.go', ['main.go']],
    ['src/app.go', ['src/app.go']],
    ['nothing*', []],
  ])('finds %s: %j', async (pattern, expected) => {
    const { executor } = searchedTree(
      files('main.go', 'src/app.go', 'src/components/button.go', 'test/test.go', 'README.md'),
    );
    expect(await glob(executor, { pattern })).toEqual(expected);
  });

  it('is also called Glob, needs no approval and changes nothing', async () => {
    const { executor } = searchedTree(files('a.ts'));
    const plan = await executor.plan([{ id: '1', name: 'Glob', args: { pattern: '**' } }]);
    expect(plan.calls[0]).toMatchObject({
      disposition: 'execute_now',
      risk: 'low',
      effects: [{ kind: 'read' }],
    });
    expect((await executor.execute('Glob', { pattern: '**' })).output).toBe('a.ts');
  });

  it('says that nothing matches, as a success', async () => {
    const { executor } = searchedTree(files('a'));
    expect(await executor.execute('glob', { pattern: '*.zig' })).toMatchObject({
      success: true,
      output: 'no matches found',
      truncated: false,
      metadata: { count: 0, total: 0 },
    });
  });

  it('names files in the form that other tools accept, whatever directory it searches', async () => {
    const { executor, root } = searchedTree(files('src/deep/a.ts', 'src/b.ts'));
    expect(await glob(executor, { pattern: '*.ts', path: 'src' })).toEqual(['src/b.ts']);
    expect(await glob(executor, { pattern: '*.ts', path: null })).toEqual([]);
    expect(await glob(executor, { pattern: '**', path: `${root}/src/deep` })).toEqual(['src/deep/a.ts']);
    expect(await glob(executor, { pattern: `${root}/src/**/*.ts` })).toEqual(['src/b.ts', 'src/deep/a.ts']);
    expect(await glob(executor, { pattern: `${root}/src/b.ts` })).toEqual(['src/b.ts']);
  });

  it('gives absolute paths in a root that is not the working directory', async () => {
    const second = folder();
    writeFileSync(join(second, 'x.ts'), '');
    const { root } = searchedTree({});
    const { executor } = searchedTree({}, { root: [root, second] });
    expect(await glob(executor, { pattern: '*.ts', path: second })).toEqual([join(second, 'x.ts')]);
  });

  it('sorts by the bytes of the path, or by age if requested', async () => {
    const names = ['b.ts', 'a/z.ts', 'a.ts', 'Z.ts', 'é.ts', '😀.ts', '\uffee.ts', 'a-b.ts'];
    const { executor, root } = searchedTree(files(...names));
    const sorted = [...names].sort((one, two) => Buffer.compare(Buffer.from(one), Buffer.from(two)));
    expect(await glob(executor, { pattern: '**/*.ts' })).toEqual(sorted);
    for (const [age, name] of names.entries()) utimesSync(join(root, name), 1e9, 1e9 - Math.floor(age / 2));
    const pairs = [0, 2, 4, 6].flatMap((at) =>
      sorted.filter((name) => names.slice(at, at + 2).includes(name)),
    );
    expect(await glob(executor, { pattern: '**/*.ts', newest_first: true })).toEqual(pairs);
    expect(await glob(executor, { pattern: '**/*.ts', newest_first: true, limit: 1 })).toEqual([
      pairs[0],
      '[truncated at 1 matches] 7 more: narrow the pattern, or raise limit.',
    ]);
  });

  it('returns the first paths up to a limit, and the number of further ones', async () => {
    const { executor } = searchedTree(files('c.rs', 'a.rs', 'b.rs'));
    expect(await executor.execute('glob', { pattern: '*.rs', limit: 2 })).toMatchObject({
      output: 'a.rs\nb.rs\n[truncated at 2 matches] 1 more: narrow the pattern, or raise limit.',
      truncated: true,
      metadata: { count: 2, total: 3, truncated: true },
    });
    expect(await executor.execute('glob', { pattern: '*.rs', limit: 3 })).toMatchObject({ truncated: false });
  });

  it('returns only whole paths if the output is limited', { tags: ['soak'] }, async () => {
    const names = Array.from(
      { length: 5000 },
      (_, at) => `d${at % 7}/file-${String(at).padStart(4, '0')}.ts`,
    );
    const { executor } = searchedTree(files(...names), { output: { maxBytes: 500 } });
    const result = await executor.execute('glob', { pattern: '**/*.ts', limit: 5000 });
    const lines = result.output.split('\n');
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(500);
    expect(result).toMatchObject({ truncated: true, metadata: { total: 5000, count: lines.length - 1 } });
    expect(lines.slice(0, -1)).toEqual([...names].sort().slice(0, lines.length - 1));
  });

  it.each([
    [{ pattern: '' }, 'bad_args', /pattern/],
    [{ path: '.' }, 'bad_args', /pattern/],
    [{ pattern: '[a' }, 'bad_args', /not closed/],
    [{ pattern: '!*.ts' }, 'bad_args', /negated/],
    [{ pattern: '../*' }, 'bad_args', /"\.\."/],
    [{ pattern: '*', path: '..' }, 'sandbox_violation', /never followed/],
    [{ pattern: '/etc/*' }, 'sandbox_violation', /outside the roots/],
    [{ pattern: '*', path: '/etc' }, 'sandbox_violation', /outside the roots/],
    [{ pattern: '*', path: 'none' }, 'execution_failed', /path does not exist: none/],
    [{ pattern: '*', path: 'f' }, 'execution_failed', /path is not a directory: f/],
    [{ pattern: '*', limit: 0 }, 'bad_args', /limit/],
    [{ pattern: '*', colour: 1 }, 'bad_args', /colour/],
  ] as const)('refuses %j with %s', async (args, code, message) => {
    const { executor } = searchedTree(files('f'));
    const result = await executor.execute('glob', args);
    expect(result.error?.code).toBe(code);
    expect(result.error?.message).toMatch(message);
  });
});

describe('glob leaves out', () => {
  it('files that ignore files inside the root name, with and without a repository', async () => {
    const { executor } = searchedTree({
      '.gitignore': '*.log\n/dist/\nnode_modules\n!keep.log\n',
      'pkg/.gitignore': 'local.*\n!local.ts\n/only-here\n',
      '.ignore': 'big.bin\n',
      ...files(
        'a.log',
        'keep.log',
        'dist/x.js',
        'pkg/dist/x.js',
        'node_modules/m/i.js',
        'pkg/node_modules/j.js',
      ),
      ...files(
        'pkg/local.js',
        'pkg/local.ts',
        'pkg/only-here',
        'pkg/d/only-here',
        'local.js',
        'big.bin',
        'a.ts',
      ),
    });
    const kept = ['a.ts', 'keep.log', 'local.js', 'pkg/d/only-here', 'pkg/dist/x.js', 'pkg/local.ts'];
    expect(await glob(executor, { pattern: '**' })).toEqual(kept);
    expect(await glob(executor, { pattern: '**/*.js' })).toEqual(['local.js', 'pkg/dist/x.js']);
    expect(await glob(executor, { pattern: 'node_modules/**' })).toEqual([]);
    expect(await glob(executor, { pattern: '**/*.js', include_ignored: true })).toEqual([
      'dist/x.js',
      'local.js',
      'node_modules/m/i.js',
      'pkg/dist/x.js',
      'pkg/local.js',
      'pkg/node_modules/j.js',
    ]);
  });

  it('no file because of ignore files outside the root', async () => {
    const { executor } = searchedTree({ '../.gitignore': '*\n', '../.ignore': '*\n', ...files('a.ts') });
    expect(await glob(executor, { pattern: '**' })).toEqual(['a.ts']);
  });

  it('the same files in a search below the root as from the root', async () => {
    const { executor } = searchedTree({
      '.gitignore':
        '*.log\n/a/b/anchored\nb/middle.txt\n/a/*.tmp\n**/deep/x\na/**/y\n/*/b/star\n# note\n\\#hash\n \n',
      'a/.gitignore': '!keep.log\r\n/b/from-a\r\n',
      ...files(
        'a/b/x.log',
        'a/b/keep.log',
        'a/b/anchored',
        'a/b/c/anchored',
        'a/b/middle.txt',
        'a/b/b/middle.txt',
      ),
      ...files(
        'a/b/t.tmp',
        'a/b/deep/x',
        'a/b/c/d/y',
        'a/b/y',
        'a/b/star',
        'a/b/b/star',
        'a/b/from-a',
        'a/b/#hash',
      ),
    });
    const expected = await glob(executor, { pattern: 'a/b/**' });
    expect(expected).toEqual([
      'a/b/b/middle.txt',
      'a/b/b/star',
      'a/b/c/anchored',
      'a/b/keep.log',
      'a/b/middle.txt',
      'a/b/t.tmp',
    ]);
    expect(await glob(executor, { pattern: '**', path: 'a/b' })).toEqual(expected);
  });

  it.each(['a/**//', 'a//b', 'a/b/**//', '!a/**//', 'a/**//x'])(
    'the same files below the root as from the root, for a rule with an empty part: %j',
    async (rule) => {
      const { executor } = searchedTree({ '.gitignore': rule, ...files('a/b/a/x', 'a/b/b', 'a/b/x') });
      const whole = await glob(executor, { pattern: 'a/b/**' });
      expect(whole).toEqual(['a/b/a/x', 'a/b/b', 'a/b/x']);
      expect(await glob(executor, { pattern: '**', path: 'a/b' })).toEqual(whole);
    },
  );

  it('the same files below the root as from the root, for any rules', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const rule = fc
      .array(fc.constantFrom('a', 'b', 'c', '*', '**', '[ab]', 'c*', '/', '!', '?'), {
        minLength: 1,
        maxLength: 5,
      })
      .map((parts) => parts.join(''));
    const names = ['a', 'b', 'c'].flatMap((one) => ['a', 'b', 'c', 'ab'].map((two) => `a/b/${one}/${two}`));
    await fc.assert(
      fc.asyncProperty(
        fc.array(rule, { maxLength: 4 }),
        fc.array(rule, { maxLength: 2 }),
        async (top, lower) => {
          const ignores = { '.gitignore': top.join('\n'), 'a/.gitignore': lower.join('\n') };
          const { executor } = searchedTree({ ...ignores, ...files(...names, 'a/b/x') });
          const whole = await glob(executor, { pattern: 'a/b/**' });
          // If the directory itself is left out, its content was requested explicitly.
          if (whole.length === 0) return;
          expect(await glob(executor, { pattern: '**', path: 'a/b' })).toEqual(whole);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('names that begin with a dot, unless the pattern or an option includes them', async () => {
    const { executor } = searchedTree(
      files('.eslintrc', '.github/w.yml', 'a/.hidden/b.ts', '.git/config', 'x.yml', '.gitignored'),
    );
    expect(await glob(executor, { pattern: '**' })).toEqual(['x.yml']);
    expect(await glob(executor, { pattern: '.*' })).toEqual(['.eslintrc', '.gitignored']);
    expect(await glob(executor, { pattern: '.github/*.yml' })).toEqual(['.github/w.yml']);
    expect(await glob(executor, { pattern: '**/*.yml', include_hidden: true })).toEqual([
      '.github/w.yml',
      'x.yml',
    ]);
    expect(await glob(executor, { pattern: '**/*.ts', include_hidden: true })).toEqual(['a/.hidden/b.ts']);
    expect(await glob(executor, { pattern: '**/config', include_hidden: true })).toEqual([]);
    expect(await glob(executor, { pattern: '.git/config' })).toEqual(['.git/config']);
    expect(await glob(executor, { pattern: '*', path: '.github' })).toEqual(['.github/w.yml']);
  });

  it('is what deny patterns name, in any case', async () => {
    const { executor, root } = searchedTree(
      files(
        'id_rsa',
        'x.PEM',
        'd/.ssh/known',
        'secrets/a',
        'd/secrets/b',
        'd/Private.txt',
        'ok.txt',
        '.env',
        '.env.example',
      ),
      { sandbox: { deniedPatterns: ['secrets/**', '**/private.txt'] } },
    );
    const everything = { pattern: '**', include_hidden: true, include_ignored: true };
    expect(await glob(executor, everything)).toEqual(['.env.example', 'd/secrets/b', 'ok.txt']);
    expect(await glob(executor, { pattern: '.env*' })).toEqual(['.env.example']);
    expect((await executor.execute('glob', { pattern: '*', path: 'secrets' })).error?.code).toBe(
      'sandbox_violation',
    );
    expect((await executor.execute('glob', { pattern: `${root}/secrets/*` })).error?.code).toBe(
      'sandbox_violation',
    );
  });

  it('files behind links: it follows none out of the root or in a circle', async () => {
    const { executor } = searchedTree({
      '../outside/secret.ts': '',
      'd/x.ts': '',
      'd/loop': { link: '.' },
      'd/up': { link: '..' },
      out: { link: '../outside' },
      'file.ts': { link: '../outside/secret.ts' },
      inside: { link: 'd' },
      dangling: { link: 'nowhere' },
    });
    expect(await glob(executor, { pattern: '**/*.ts' })).toEqual(['d/x.ts']);
    expect(await glob(executor, { pattern: '*', path: 'inside' })).toEqual(['d/x.ts']);
    expect((await executor.execute('glob', { pattern: '*', path: 'out' })).error?.code).toBe(
      'sandbox_violation',
    );
    expect((await executor.execute('glob', { pattern: '*', path: 'dangling' })).success).toBe(false);
  });
});

describe('names that are hard to write', () => {
  it('come as one line each', async () => {
    const { executor, root } = searchedTree({});
    const plain = ['-rf', '--help', "it's", 'a b', '$(x)', 'ü', '*', 'back\\slash', 'x'.repeat(255)];
    addEntries(root, files(...plain, 'new\nline', 'esc\x1b[31m', '"quoted"'));
    mkdirSync(join(root, 'dir\n'));
    writeFileSync(join(root, 'dir\n', 'f'), '');
    writeFileSync(Buffer.concat([Buffer.from(`${root}/raw`), Buffer.of(0xff, 0xfe)]), '');
    const found = await glob(executor, { pattern: '**' });
    const quoted = ['"\\"quoted\\""', '"dir\\n/f"', '"esc\\u001b[31m"', '"new\\nline"'];
    expect([...found].sort()).toEqual([...plain, ...quoted, 'raw\ufffd\ufffd'].sort());
    expect(await glob(executor, { pattern: '-*' })).toEqual(['--help', '-rf']);
    expect(await glob(executor, { pattern: 'raw??' })).toEqual(['raw\ufffd\ufffd']);
  });
});
