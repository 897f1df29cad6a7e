import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { workshop } from './fixtures/workshop.js';
import { resolveConfig } from './resolve-config.js';
import { distrustProject, isTrusted, trustProject } from './trust-project.js';

const PROJECT = 'work/project/toolexec.toml';
const RECORD = '.local/state/toolexec/trusted.json';

describe('trustProject()', () => {
  it('records the file and the hash of its bytes, for its owner alone', () => {
    const { home, env, write } = workshop();
    const file = write(PROJECT, 'tools.mode = "enabled"');
    const sha256 = createHash('sha256').update('tools.mode = "enabled"').digest('hex');
    expect(isTrusted(file, env)).toBe(false);
    expect(trustProject(file, env)).toEqual({ file, sha256 });
    expect(isTrusted(file, env)).toBe(true);
    const record = join(home, RECORD);
    expect(JSON.parse(readFileSync(record, 'utf8'))).toEqual({ version: 1, trusted: [{ file, sha256 }] });
    expect(statSync(record).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(record)).mode & 0o777).toBe(0o700);
  });

  it('keeps its record under XDG_STATE_HOME', () => {
    const { home, write } = workshop();
    const file = write(PROJECT, '');
    trustProject(file, { HOME: home, XDG_STATE_HOME: join(home, 'state') });
    expect(statSync(join(home, 'state', 'toolexec', 'trusted.json')).isFile()).toBe(true);
    expect(isTrusted(file, { HOME: home })).toBe(false);
  });

  it('trusts a changed file again, and keeps one entry for it', () => {
    const { home, env, write } = workshop();
    const file = write(PROJECT, '1');
    trustProject(file, env);
    write(PROJECT, '2');
    expect(isTrusted(file, env)).toBe(false);
    trustProject(file, env);
    write(PROJECT, '1');
    expect(isTrusted(file, env)).toBe(false);
    expect(JSON.parse(readFileSync(join(home, RECORD), 'utf8')).trusted).toHaveLength(1);
  });

  it('knows a file by any way to its directory', () => {
    const { home, env, write } = workshop();
    const file = write(PROJECT, '');
    symlinkSync(dirname(file), join(home, 'link'));
    expect(trustProject(join(home, 'link', 'toolexec.toml'), env).file).toBe(file);
    expect(isTrusted(file, env)).toBe(true);
  });

  it('does not trust a link to the trusted file of another project, nor a copy of it', () => {
    const { home, env, write } = workshop();
    const file = write(PROJECT, 'tools.sandbox.allowed_roots = ["."]');
    trustProject(file, env);
    mkdirSync(join(home, 'hostile'));
    const link = join(home, 'hostile', 'toolexec.toml');
    symlinkSync(file, link);
    expect(isTrusted(link, env)).toBe(false);
    expect(resolveConfig({ cwd: join(home, 'hostile'), env }).project).toEqual({
      file: link,
      trusted: false,
    });
    expect(isTrusted(write('copy/toolexec.toml', 'tools.sandbox.allowed_roots = ["."]'), env)).toBe(false);
  });

  it('trusts a project that is itself a link by what the link leads to', () => {
    const { env, write, project } = workshop();
    const target = write('dotfiles/project.toml', 'tools.mode = "enabled"');
    const link = join(project, 'toolexec.toml');
    symlinkSync(target, link);
    trustProject(link, env);
    expect(isTrusted(link, env)).toBe(true);
    expect(isTrusted(target, env)).toBe(false);
    writeFileSync(target, 'tools.mode = "disabled"');
    expect(isTrusted(link, env)).toBe(false);
  });

  it('does not vouch for where a link of the project will lead', () => {
    const { home, project, env, write } = workshop();
    trustProject(
      write(PROJECT, 'tools.mode = "enabled"\ntools.sandbox.allowed_roots = ["data", "../notes", "own"]'),
      env,
    );
    const root = (): unknown => resolveConfig({ cwd: project, env }).configuration.executor.root;
    mkdirSync(join(project, 'data'));
    mkdirSync(join(home, 'work', 'real-notes'));
    symlinkSync(join(home, 'work', 'real-notes'), join(home, 'work', 'notes'));
    symlinkSync('data', join(project, 'own'));
    expect(root()).toEqual([join(project, 'data'), join(home, 'work', 'notes'), join(project, 'own')]);
    rmSync(join(project, 'data'), { recursive: true });
    symlinkSync(home, join(project, 'data'));
    expect(root).toThrow(
      `toolexec.toml:2: tools.sandbox.allowed_roots: "data" is a link that leads to "${home}". Write that path itself.`,
    );
  });

  it('forgets a project, even one that no longer exists', () => {
    const { env, write } = workshop();
    const [one, two] = [write(PROJECT, ''), write('two/toolexec.toml', '')];
    trustProject(one, env);
    trustProject(two, env);
    expect(distrustProject(one, env)).toBe(true);
    expect(distrustProject(one, env)).toBe(false);
    expect([isTrusted(one, env), isTrusted(two, env)]).toEqual([false, true]);
    expect(distrustProject('/nowhere/toolexec.toml', env)).toBe(false);
  });

  it.each([
    ['no JSON', '{'],
    ['binary', Buffer.from([0, 255, 1])],
    ['null', 'null'],
    ['another version', '{"version":2,"trusted":[]}'],
    ['a list', '[]'],
    ['entries of another shape', '{"version":1,"trusted":[{"file":"/x","sha256":"zz"}]}'],
    ['nothing', ''],
  ])('trusts nothing where the record is %s, and says so', (_what, text) => {
    const { home, project, env, write } = workshop();
    const file = write(PROJECT, 'tools.approval.mode = "auto"');
    trustProject(file, env);
    write(RECORD, text);
    const { project: found, warnings, configuration } = resolveConfig({ cwd: project, env });
    expect(found?.trusted).toBe(false);
    expect(configuration.executor).toEqual({});
    expect(warnings).toEqual([
      `Cannot read the record of trusted projects "${join(home, RECORD)}": it is damaged. Remove it, and trust your projects again. Until then no project is trusted.`,
    ]);
    expect(isTrusted(file, env)).toBe(false);
    expect(() => trustProject(file, env)).toThrow('it is damaged');
    expect(readFileSync(join(home, RECORD)).equals(Buffer.from(text))).toBe(true);
  });

  it('does not believe a record that others can read or write: a repository cannot bring one along', () => {
    const { home, project, env, write } = workshop();
    const file = write(PROJECT, '');
    trustProject(file, env);
    chmodSync(join(home, RECORD), 0o644);
    expect(resolveConfig({ cwd: project, env }).project?.trusted).toBe(false);
    expect(resolveConfig({ cwd: project, env }).warnings[0]).toContain('other users have access to it.');
    chmodSync(join(home, RECORD), 0o600);
    expect(resolveConfig({ cwd: project, env }).project?.trusted).toBe(true);
  });

  it.each([
    ['a missing file', 'missing.toml', 'it does not exist.'],
    ['a directory', '.', 'it is a directory.'],
  ])('refuses %s', (_what, name, told) => {
    const { project, env } = workshop();
    expect(() => trustProject(join(project, name), env)).toThrow(told);
    expect(isTrusted(join(project, name), env)).toBe(false);
  });

  it('says in a line why the record cannot be written', () => {
    const { home, env, write } = workshop();
    const file = write(PROJECT, '');
    write('.local/state', 'a file');
    expect(() => trustProject(file, env)).toThrow(/^Cannot use the record of trusted projects ".*": [^\n]+$/);
    expect(isTrusted(file, { XDG_STATE_HOME: join(home, '.local/state') })).toBe(false);
  });

  it('loses no entry of several processes that trust at once, and leaves no drafts', {
    tags: ['soak'],
  }, async () => {
    const { home, env, write } = workshop();
    const state = join(home, '.local', 'state');
    const files = Array.from({ length: 24 }, (_, index) => write(`p${index}/toolexec.toml`, `# ${index}`));
    const program = bundleProgram(join(import.meta.dirname, 'fixtures', 'trust-many.mjs'));
    const shares = [0, 1, 2, 3].map((share) => files.filter((_, index) => index % 4 === share));
    await Promise.all(
      shares.map((share) => ended(spawn(process.execPath, [program, state, ...share], { stdio: 'inherit' }))),
    );
    expect(files.filter((file) => !isTrusted(file, env))).toEqual([]);
    expect(readdirSync(join(state, 'toolexec')).sort()).toEqual(['trusted.json', 'trusted.json.lock']);
  });
});

function ended(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))));
  });
}
