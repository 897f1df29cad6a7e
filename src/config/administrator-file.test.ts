import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPolicy } from '../policy/create-policy.js';
import { ADMINISTRATOR_PLACE, type AdministratorPlace } from './administrator-file.js';
import { type Workshop, workshop } from './fixtures/workshop.js';
import { type ConfigSources, type ResolvedConfig, resolveConfig } from './resolve-config.js';
import { trustProject } from './trust-project.js';

const PROJECT = 'work/project/toolexec.toml';
const USER = '.config/toolexec/config.toml';

/** The test's own user takes the role of root, because only root may write at the real path. */
function machine(text: string): Workshop & {
  readonly place: AdministratorPlace;
  resolve(more?: Partial<ConfigSources>): ResolvedConfig;
} {
  const shop = workshop();
  const file = shop.write('machine/toolexec.toml', text);
  chmodSync(file, 0o644);
  chmodSync(dirname(file), 0o755);
  const place = { file, owner: process.getuid?.() ?? 0 };
  const { project, env } = shop;
  return {
    ...shop,
    place,
    resolve: (more = {}) => resolveConfig({ cwd: project, env, administrator: place, ...more }),
  };
}

const held = ({ settings }: ResolvedConfig, key: string): unknown =>
  settings.find((setting) => setting.key === key)?.value;

describe("the administrator's file", () => {
  it('is looked for in one place, which no variable and no option names', () => {
    expect(ADMINISTRATOR_PLACE).toEqual({ file: '/etc/toolexec/toolexec.toml', owner: 0 });
    expect(Object.isFrozen(ADMINISTRATOR_PLACE)).toBe(true);
  });

  it('applies if no other file sets a value, and is named as the origin', () => {
    const { resolve, place } = machine('[tools.approval]\nmode = "deny"\n');
    const resolved = resolve();
    expect(resolved.configuration.executor.policy).toEqual({ mode: 'deny' });
    expect(resolved.administratorFile).toBe(place.file);
    expect(resolved.settings.find(({ key }) => key === 'tools.approval.mode')?.origins).toEqual([
      { kind: 'administrator', file: place.file, line: 2 },
    ]);
  });

  it('is only tightened by options, variables, named files, projects and people', () => {
    const { resolve, env, write, project } = machine(
      '[tools]\nmax_tool_args_bytes = 100\n[tools.approval]\nmode = "prompt"\ndenylist = ["bash"]\n',
    );
    const key = 'tools.max_tool_args_bytes';
    const text = (bytes: number) => `[tools]\nmax_tool_args_bytes = ${bytes}\n`;
    const named = (bytes: number) => write('named.toml', text(bytes));
    const set = (bytes: number): readonly Partial<ConfigSources>[] => [
      { flags: { [key]: bytes } },
      { env: { ...env, TOOLEXEC_TOOLS_MAX_TOOL_ARGS_BYTES: String(bytes) } },
      { configFile: named(bytes) },
    ];
    for (const more of set(50)) expect(held(resolve(more), key)).toBe(50);
    for (const more of set(200)) {
      const resolved = resolve(more);
      expect(held(resolved, key)).toBe(100);
      expect(resolved.warnings.join()).toContain('the administrator has fixed it, and it may be at most 100');
    }
    write(USER, text(200));
    expect(held(resolve(), key)).toBe(100);
    trustProject(write(PROJECT, text(300)), env);
    expect(held(resolve(), key)).toBe(100);
    const denied = resolve({ flags: { 'tools.approval.denylist': ['task'], 'tools.approval.mode': 'auto' } });
    expect(held(denied, 'tools.approval.denylist')).toEqual(['bash', 'task']);
    expect(held(denied, 'tools.approval.mode')).toBe('prompt');
    expect(project).toContain('project');
  });

  it('bounds an untrusted project by what it and the person say together', () => {
    const { resolve, write } = machine('[tools]\nmax_tool_args_bytes = 100\n');
    write(PROJECT, '[tools]\nmax_tool_args_bytes = 150\n');
    const resolved = resolve();
    expect(held(resolved, 'tools.max_tool_args_bytes')).toBe(100);
    expect(resolved.ignored).toHaveLength(1);
  });

  it('keeps roots inside its own', () => {
    const { resolve, home, project } = machine('[tools.sandbox]\nallowed_roots = ["../work"]\n');
    mkdirSync(join(home, 'other'));
    const roots = (more: readonly string[]) =>
      resolve({ flags: { 'tools.sandbox.allowed_roots': more } }).configuration.executor.root;
    expect(roots([project])).toEqual([project]);
    expect(roots([join(home, 'other')])).toEqual([join(home, 'work')]);
  });

  it('has rules that no other file lifts', () => {
    const { resolve, write } = machine(
      '[[tools.approval.rules]]\ndecision = "deny"\ntool = "bash"\ncommand = "git push *"\n',
    );
    write(
      USER,
      '[[tools.approval.rules]]\ndecision = "allow"\ntool = "bash"\ncommand = "git push origin main"\n',
    );
    const resolved = resolve();
    const policy = createPolicy(resolved.configuration.executor.policy);
    const answer = policy.decide({
      name: 'bash',
      sideEffecting: true,
      requiresApproval: true,
      effects: [{ kind: 'run', command: 'git push origin main', shell: 'bash' }],
    });
    expect(answer.code).toBe('policy_denied');
    expect(answer.hint).toContain('administrator rules[0]');
    const origins = resolved.settings.find(({ key }) => key === 'tools.approval.rules')?.itemOrigins;
    expect(origins?.map(({ kind }) => kind)).toEqual(['user', 'administrator']);
  });

  it('counts for nothing where somebody else could have written it, and says so', () => {
    const fixed = '[tools.approval]\nmode = "deny"\n';
    const ignored = (change: (place: AdministratorPlace) => AdministratorPlace): ResolvedConfig => {
      const { resolve, place } = machine(fixed);
      return resolve({ administrator: change(place) });
    };
    const loosened = [
      ignored((place) => ({ ...place, owner: place.owner + 1 })),
      ignored((place) => {
        chmodSync(place.file, 0o664);
        return place;
      }),
      ignored((place) => {
        chmodSync(dirname(place.file), 0o777);
        return place;
      }),
      ignored((place) => {
        const link = join(dirname(place.file), 'link.toml');
        symlinkSync(place.file, link);
        return { ...place, file: link };
      }),
    ];
    for (const resolved of loosened) {
      expect(held(resolved, 'tools.approval.mode')).toBe('prompt');
      expect(resolved.administratorFile).toBeUndefined();
      expect(resolved.warnings.join()).toContain('is not applied');
    }
  });

  it('is refused where it is not understood', () => {
    const { resolve } = machine('[tools]\nmod = 1\n');
    expect(() => resolve()).toThrow(/toolexec\.toml/);
  });
});
