import fc from 'fast-check';
import { Minimatch } from 'minimatch';
import { describe, expect, it } from 'vitest';
import { DEFAULT_DENIED_PATTERNS, DEFAULT_DENIED_WRITE_PATTERNS } from './default-denies.js';
import { createDenyRules } from './deny-rules.js';
import { errorOf } from './fixtures/error-of.js';

const NONE = { builtin: [], given: [] };
const rulesFor = (denied: readonly string[], roots: readonly string[] = ['/w/proj']) =>
  createDenyRules({ roots, denied: { builtin: [], given: denied }, deniedWrite: NONE });
const isDenied = (pattern: string, path: string, roots?: readonly string[]) =>
  rulesFor([pattern], roots).deniedBy(path, 'read') === pattern;

describe('the default denies (D048, D102, A008)', () => {
  const rules = createDenyRules({
    roots: ['/w/proj'],
    denied: { builtin: DEFAULT_DENIED_PATTERNS, given: [] },
    deniedWrite: { builtin: DEFAULT_DENIED_WRITE_PATTERNS, given: [] },
  });

  it.each([
    '.ssh',
    '.ssh/config',
    'x/.SSH/known_hosts',
    '.gnupg/ring',
    '.aws/credentials',
    'id_rsa',
    'keys/ID_RSA.pub',
    'a/b/cert.PEM',
    'server.key',
    '.env',
    '.env.local',
    'app/.ENV.production',
    '.env.example.bak',
    '.netrc',
    '.npmrc',
    '.git-credentials',
    '.docker/config.json',
    '.config/gcloud/x',
    '.\u017fsh/config',
    '.s\u200dsh/config',
  ])('keep %s from being read', (name) => {
    expect(rules.deniedBy(`/w/proj/${name}`, 'read')).toBeDefined();
    expect(rules.deniedBy(`/w/proj/${name}`, 'write')).toBeDefined();
  });

  it.each([
    '.env.example',
    '.ENV.Example',
    'cert.pem.txt',
    'keyboard.ts',
    'monkey',
    'my.ssh.txt',
    'env',
    'a.env',
  ])('leave %s alone', (name) => expect(rules.deniedBy(`/w/proj/${name}`, 'write')).toBeUndefined());

  it.each(['.config/git/config', 'home/.config/fish/conf.d/a.fish', '.config/fish/config.fish'])(
    'keep %s from being written',
    (name) => expect(rules.deniedBy(`/w/proj/${name}`, 'write')).toBeDefined(),
  );

  it.each(['.config', 'x/.KUBE', '.local', '.local/state', '.config/git', '.docker'])(
    'name what lies below %s',
    (name) => expect(rules.deniedBelow(`/w/proj/${name}`)).toBeDefined(),
  );

  it.each(['.configs', 'state', 'git', 'src', '.config/other', '.local/share', '.kube/cache'])(
    'name nothing below %s',
    (name) => expect(rules.deniedBelow(`/w/proj/${name}`)).toBeUndefined(),
  );

  it.each(['.git', '.git/config', 'sub/.git/hooks/pre-commit', '.vscode/tasks.json', '.mcp.json'])(
    'let %s be read and not written',
    (name) => {
      expect(rules.deniedBy(`/w/proj/${name}`, 'read')).toBeUndefined();
      expect(rules.deniedBy(`/w/proj/${name}`, 'write')).toBeDefined();
    },
  );

  it.each(['.gitignore', '.github/workflows/ci.yml'])('let %s be written', (name) =>
    expect(rules.deniedBy(`/w/proj/${name}`, 'write')).toBeUndefined(),
  );

  it('keep the system’s credential files, where a root is as wide as /', () => {
    const wide = rulesFor(DEFAULT_DENIED_PATTERNS, ['/']);
    for (const path of ['/etc/shadow', '/etc/sudoers.d/x', '/proc/self/environ', '/proc', '/ETC/Shadow-']) {
      expect(wide.deniedBy(path, 'read')).toBeDefined();
    }
    expect(wide.deniedBy('/etc/hosts', 'read')).toBeUndefined();
  });
});

describe('a deny pattern', () => {
  it.each([
    ['**/*.log', '/w/proj/d/x.log', true],
    ['*.log', '/w/proj/d/x.log', true],
    ['secrets/**', '/w/proj/secrets', true],
    ['secrets/**', '/w/proj/secrets/a/b', true],
    ['secrets/**', '/w/proj/d/secrets/a', false],
    ['./secrets/', '/w/proj/secrets/a', true],
    ['**/secrets', '/w/proj/d/secrets/deep/file', true],
    ['a/b.txt', '/w/proj/a/b.txt', true],
    ['a/b.txt', '/w/proj/x/a/b.txt', false],
    ['/w/proj/a/*.txt', '/w/proj/a/b.txt', true],
    ['/w/proj/a', '/w/proj/a/b/c', true],
    ['/elsewhere/**', '/w/proj/a', false],
    ['{/w/proj/a,b/c}/x', '/w/proj/a/x', true],
    ['{/w/proj/a,b/c}/x', '/w/proj/b/c/x', true],
    ['**/{a/b,c/d}.txt', '/w/proj/q/a/b.txt', true],
    ['[]a]', '/w/proj/]', true],
    ['@(a|b)*', '/w/proj/B1', true],
    ['#note', '/w/proj/#note', true],
    ['a\\*', '/w/proj/a*', true],
    ['a\\*', '/w/proj/ab', false],
    ['caf\u00e9', '/w/proj/cafe\u0301', true],
    ['**', '/w/proj/x', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(isDenied(pattern, path)).toBe(expected);
  });

  it('covers everything in a root that lies inside a named directory', () => {
    expect(isDenied('**/.aws/**', '/home/.aws/proj/a', ['/home/.aws/proj'])).toBe(true);
    expect(isDenied('/home/x/**', '/home/x/proj/a', ['/home/x/proj'])).toBe(true);
    expect(isDenied('**/build', '/srv/build/a', ['/srv/build'])).toBe(false);
  });

  it('does not matcher a root itself: the host chose it', () => {
    expect(isDenied('**/proj', '/w/proj')).toBe(false);
  });

  it.each([
    ['[invalid', 'not closed'],
    ['{a,b', 'not closed'],
    ['a}', 'never opened'],
    ['+(a', 'not closed'],
    ['', 'empty'],
    ['  ', 'empty'],
    ['!a', 'negated'],
    ['a\\', 'backslash'],
    ['a/../b', 'would match nothing'],
    ['a\0b', 'NUL'],
    [`${'{a,b}'.repeat(10)}`, 'alternatives'],
    ['x'.repeat(5000), 'longer than'],
  ])('is refused if it is not a glob: %.20s', async (pattern, why) => {
    const error = await errorOf(() => rulesFor([pattern]));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain('deniedPatterns');
    expect(error.message).toContain(why);
  });

  it('means what the matcher says, for all its quick tests', () => {
    const part = fc.constantFrom('a', 'B', 'ab', '*', '*.c', 'a?', '[ab]', '@(a|b)', '.a', '!(a)', 'a.c');
    const name = fc.constantFrom('a', 'A', 'b', 'ab', 'x.c', 'a.c', '.a', 'ax', 'c');
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (parts, names) => {
          const pattern = `**/${parts.join('/')}`;
          const matcher = new Minimatch(pattern, {
            dot: true,
            nocase: true,
            nonegate: true,
            platform: 'linux',
          });
          const paths = names.map((_, index) => `/w/proj/${names.slice(0, index + 1).join('/')}`);
          const expected = paths.some((path) => matcher.match(path));
          expect(isDenied(pattern, paths.at(-1) ?? '')).toBe(expected);
          // Entry by entry, as a listing asks.
          const rules = rulesFor([pattern]);
          const isListed = names.every((entry, index) => {
            const directory = ['/w/proj', ...names.slice(0, index)].join('/');
            return !rules.deniedEntries(directory)(entry);
          });
          expect(isListed).toBe(!expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

it('a pattern that begins with a slash and leads to no root is meant from a root, as in a .gitignore', () => {
  const denies = (pattern: string, path: string): boolean =>
    rulesFor([pattern], ['/w/proj']).deniedBy(path, 'read') === pattern;
  expect(denies('/keys/**', '/w/proj/keys/a')).toBe(true);
  expect(denies('/x.key', '/w/proj/x.key')).toBe(true);
  expect(denies('/x.key', '/w/proj/sub/x.key')).toBe(false);
  expect(denies('/W/proj/keys/**', '/w/proj/keys/a')).toBe(true);
  // This one leads to a root.
  expect(denies('/w/keys/**', '/w/proj/w/keys/a')).toBe(false);
});
