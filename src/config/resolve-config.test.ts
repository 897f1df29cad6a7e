import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ToolError } from '../errors/tool-error.js';
import { unprivileged } from '../platform/fixtures/unprivileged.js';
import { CONFIG_KEYS } from './config-keys.js';
import { variableOf } from './config-layer.js';
import { workshop } from './fixtures/workshop.js';
import { type ConfigSources, type ResolvedSetting, resolveConfig } from './resolve-config.js';
import { trustProject } from './trust-project.js';

const PROJECT = 'work/project/toolexec.toml';
const USER = '.config/toolexec/config.toml';

describe('resolveConfig()', () => {
  it('says every key in the order of the table, and names nothing where nothing is named', () => {
    const { project, env } = workshop();
    const resolved = resolveConfig({ cwd: project, env });
    expect(resolved.configuration).toEqual({ executor: {}, run: {} });
    expect(resolved.settings).toEqual(
      Object.entries(CONFIG_KEYS).map(([key, { fallback }]) => ({
        key,
        value: fallback,
        origins: [{ kind: 'default' }],
      })),
    );
    expect(resolved).toEqual({
      configuration: resolved.configuration,
      settings: resolved.settings,
      ignored: [],
      warnings: [],
    });
  });

  it('lets flags beat the environment, the project, the person and the default', () => {
    const { project, env, write } = workshop();
    const user = write(USER, '[tools]\nmax_tool_args_bytes = 5\n[tools.output]\nmax_bytes = 5');
    const file = write(PROJECT, '[tools]\nmax_tool_args_bytes = 4\n\nmax_tool_calls_per_batch = 4');
    trustProject(file, env);
    const sources = { cwd: project, env: { ...env, TOOLEXEC_TOOLS_MAX_TOOL_ARGS_BYTES: '3' } };
    const at = (more: Partial<ConfigSources>, key: string): ResolvedSetting =>
      settingOf({ ...sources, ...more }, key);
    const key = 'tools.max_tool_args_bytes';
    expect(at({ flags: { [key]: 2 } }, key)).toEqual({ key, value: 2, origins: [{ kind: 'flag' }] });
    expect(at({}, key)).toEqual({
      key,
      value: 3,
      origins: [{ kind: 'environment', variable: 'TOOLEXEC_TOOLS_MAX_TOOL_ARGS_BYTES' }],
    });
    expect(at({ env }, key)).toEqual({ key, value: 4, origins: [{ kind: 'project', file, line: 2 }] });
    expect(at({ env }, 'tools.max_tool_calls_per_batch').origins).toEqual([
      { kind: 'project', file, line: 4 },
    ]);
    expect(at({ env }, 'tools.output.max_bytes')).toEqual({
      key: 'tools.output.max_bytes',
      value: 5,
      origins: [{ kind: 'user', file: user, line: 4 }],
    });
    expect(resolveConfig({ ...sources, env })).toMatchObject({
      configuration: { executor: { limits: { maxToolArgsBytes: 4 }, output: { maxBytes: 5 } } },
      project: { file, trusted: true },
      userFile: user,
      ignored: [],
    });
  });

  it('replaces the project with a file that is named, by a flag or else by the environment', () => {
    const { project, env, write } = workshop();
    write(PROJECT, '[tools]\nmode = "disabled"');
    const other = write('other.toml', '[tools]\nmode = "parse_only"');
    const third = write('work/project/third.toml', 'tools.approval.mode = "auto"');
    const named = resolveConfig({ cwd: project, env: { ...env, TOOLEXEC_CONFIG: other } });
    expect(named.configuration.executor).toEqual({ mode: 'parse_only' });
    expect(named.project).toBeUndefined();
    expect(named.settings[0]?.origins).toEqual([{ kind: 'file', file: other, line: 2 }]);
    const flagged = resolveConfig({
      cwd: project,
      env: { ...env, TOOLEXEC_CONFIG: other },
      configFile: 'third.toml',
    });
    expect(flagged.configuration.executor).toEqual({ policy: { mode: 'auto' } });
    expect(flagged.settings.flatMap(({ origins }) => origins)).toContainEqual({
      kind: 'file',
      file: third,
      line: 1,
    });
  });

  it('joins the lists that requirements call additive, and replaces the others (D120)', () => {
    const { project, env, write } = workshop();
    const user = write(USER, 'tools.environment.denylist = ["A", "B"]\ntools.approval.denylist = ["x"]');
    const file = write(PROJECT, 'tools.environment.denylist = ["B", "C"]\ntools.approval.denylist = ["y"]');
    trustProject(file, env);
    const variables = { ...env, TOOLEXEC_TOOLS_ENVIRONMENT_DENYLIST: 'D' };
    const { configuration, settings } = resolveConfig({ cwd: project, env: variables });
    expect(configuration.executor.environment).toEqual({ denylist: ['D', 'B', 'C', 'A'] });
    expect(configuration.executor.policy).toEqual({ denylist: ['y'] });
    expect(settings.find(({ key }) => key === 'tools.environment.denylist')?.origins).toEqual([
      { kind: 'environment', variable: 'TOOLEXEC_TOOLS_ENVIRONMENT_DENYLIST' },
      { kind: 'project', file, line: 1 },
      { kind: 'user', file: user, line: 1 },
    ]);
  });

  it('starts relative roots where they are named: a file from its directory, the rest from the working directory', () => {
    const { home, project, env, write } = workshop();
    const key = 'tools.sandbox.allowed_roots';
    const rootOf = (more: Partial<ConfigSources>): unknown =>
      resolveConfig({ cwd: project, env, ...more }).configuration.executor.root;
    expect(rootOf({ flags: { [key]: ['a'] } })).toEqual([join(project, 'a')]);
    expect(rootOf({ env: { ...env, [variableOf(key)]: 'a, /b' } })).toEqual([join(project, 'a'), '/b']);
    expect(rootOf({ configFile: write('x/y.toml', `${key} = ["a"]`) })).toEqual([join(home, 'x', 'a')]);
  });

  it('finds the nearest file up to the directory that holds .git, and none above it', () => {
    const { home, project, env, write } = workshop();
    write('work/toolexec.toml', 'this is not read');
    mkdirSync(join(project, 'a', 'b'), { recursive: true });
    const deep = join(project, 'a', 'b');
    expect(resolveConfig({ cwd: deep, env }).project).toBeUndefined();
    const file = write(PROJECT, '');
    expect(resolveConfig({ cwd: deep, env }).project).toEqual({ file, trusted: false });
    const nearer = write('work/project/a/toolexec.toml', '');
    expect(resolveConfig({ cwd: deep, env }).project?.file).toBe(nearer);
    symlinkSync(deep, join(home, 'link'));
    expect(resolveConfig({ cwd: join(home, 'link'), env }).project?.file).toBe(nearer);
  });

  it('looks only in the directory itself where no parent holds .git', () => {
    const { env, home, write } = workshop();
    const file = write('loose/toolexec.toml', '');
    mkdirSync(join(home, 'loose', 'inner'));
    expect(resolveConfig({ cwd: join(home, 'loose'), env }).project?.file).toBe(file);
    expect(resolveConfig({ cwd: join(home, 'loose', 'inner'), env }).project).toBeUndefined();
  });

  it('takes the person from XDG_CONFIG_HOME where it is absolute', () => {
    const { home, project, env, write } = workshop();
    const file = write('xdg/toolexec/config.toml', '');
    const userFile = (XDG_CONFIG_HOME: string): unknown =>
      resolveConfig({ cwd: project, env: { ...env, XDG_CONFIG_HOME } }).userFile;
    expect(userFile(join(home, 'xdg'))).toBe(file);
    expect(userFile('xdg')).toBeUndefined();
  });

  it.each([
    ['TOOLEXEC_TOOLS_ALLOW_PARALLEL', '1', 'tools.allow_parallel', true],
    ['TOOLEXEC_TOOLS_ALLOW_PARALLEL', 'false', 'tools.allow_parallel', false],
    ['TOOLEXEC_TOOLS_APPROVAL_ALLOWLIST', 'a, b ,c', 'tools.approval.allowlist', ['a', 'b', 'c']],
    ['TOOLEXEC_TOOLS_APPROVAL_ALLOWLIST', '[]', 'tools.approval.allowlist', []],
    ['TOOLEXEC_TOOLS_SANDBOX_DENIED_PATTERNS', '["{a,b}"]', 'tools.sandbox.denied_patterns', ['{a,b}']],
    ['TOOLEXEC_TOOLS_TIMEOUTS_DEFAULT_SECONDS', '0.5', 'tools.timeouts.default_seconds', 0.5],
    ['TOOLEXEC_TOOLS_OUTPUT_MAX_BYTES', ' 12\n', 'tools.output.max_bytes', 12],
    ['TOOLEXEC_TOOLS_APPROVAL_MODE', 'deny', 'tools.approval.mode', 'deny'],
    ['TOOLEXEC_TOOLS_APPROVAL_DENYLIST', '', 'tools.approval.denylist', ['run_command']],
  ])('reads %s=%j', (variable, text, key, value) => {
    const { project, env } = workshop();
    expect(settingOf({ cwd: project, env: { ...env, [variable]: text } }, key).value).toEqual(value);
  });

  it.each([
    ['TOOLEXEC_TOOLS_ALLOW_PARALLEL', 'yes'],
    ['TOOLEXEC_TOOLS_OUTPUT_MAX_BYTES', '5\nx = 1'],
    ['TOOLEXEC_TOOLS_OUTPUT_MAX_BYTES', '0x10'],
    ['TOOLEXEC_TOOLS_MODE', 'Enabled'],
    ['TOOLEXEC_TOOLS_APPROVAL_DENYLIST', 'a,,b'],
    ['TOOLEXEC_TOOLS_APPROVAL_DENYLIST', '["a"]\nb = 1'],
    ['TOOLEXEC_TOOLS_APPROVAL_DENYLIST', '["a"'],
    ['TOOLEXEC_TOOLS_SANDBOX_DENIED_PATTERNS', '*.{a,b}'],
    ['TOOLEXEC_TOOLS_DEFINITIONS', 'x'],
    ['TOOLEXEC_TOOLS_TIMEOUTS_DEFAULT_SECONDS', 'Infinity'],
  ])('refuses %s=%j, naming the variable', (variable, text) => {
    const { project, env } = workshop();
    const { message } = refusal({ cwd: project, env: { ...env, [variable]: text } });
    expect(message).toContain(`Cannot use the variable ${variable}: tools.`);
    expect(message).not.toContain('\n');
  });

  it('gives each key a separate variable', () => {
    const names = Object.keys(CONFIG_KEYS).map(variableOf);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('TOOLEXEC_TOOLS_APPROVAL_MODE');
  });

  it('warns of variables that set nothing, and of none that mean something', () => {
    const { project, env } = workshop();
    const more = {
      TOOLEXEC_TOOLS_APROVAL_MODE: 'auto',
      'TOOLEXEC_\n\u001b[31m': 'x',
      TOOLEXEC_TOOL_MODE: 'subprocess',
      TOOLEXEC_CALL: 'a',
      TOOLEXEC_DEBUG: '1',
      OTHER: 'x',
    };
    const { warnings } = resolveConfig({ cwd: project, env: { ...env, ...more } });
    expect(warnings).toEqual([
      'The variable TOOLEXEC_TOOLS_APROVAL_MODE is not known. Did you mean TOOLEXEC_TOOLS_APPROVAL_MODE?',
      'The variable "TOOLEXEC_\\n\\u001b[31m" is not known. It sets nothing.',
    ]);
  });

  it.each([
    [{ 'tools.mode': 'on' }, 'tools.mode must be one of'],
    [{ 'tools.mod': 'on' }, 'tools.mod is not known.'],
    [{ toString: 1 }, 'toString is not known.'],
  ])('refuses the flags %j', (flags, told) => {
    const { project, env } = workshop();
    expect(refusal({ cwd: project, env, flags }).message).toContain(told);
  });

  it('passes over flags that are undefined', () => {
    const { project, env } = workshop();
    const { configuration } = resolveConfig({ cwd: project, env, flags: { 'tools.mode': undefined } });
    expect(configuration).toEqual({ executor: {}, run: {} });
  });

  it('names the file and the line of what is wrong in it', () => {
    const { project, env, write } = workshop();
    const user = write(USER, '\n[tools]\nmod = 1');
    expect(refusal({ cwd: project, env }).message).toContain(`${user}:3:1: tools.mod is not known.`);
    write(USER, '');
    const file = write(PROJECT, 'tools.mode = 1');
    expect(refusal({ cwd: project, env }).message).toContain(`${file}:1:7: tools.mode must be`);
    write('work/project/own.toml', 'x');
    expect(refusal({ cwd: project, env, configFile: 'own.toml' }).message).toContain('own.toml:1:');
  });

  it('does not pass over a configuration of the person that cannot be looked at', () => {
    const { project } = workshop();
    const { message } = refusal({ cwd: project, env: { HOME: `/${'x'.repeat(5000)}` } });
    expect(message).toContain('its name is too long.');
    const { env } = workshop();
    expect(resolveConfig({ cwd: `/${'x'.repeat(5000)}`, env }).project).toBeUndefined();
  });

  it('refuses a path that is not a file, and a file that cannot be read', () => {
    const { home, project, env } = workshop();
    const file = join(home, PROJECT);
    mkdirSync(file);
    expect(refusal({ cwd: project, env }).message).toBe(
      `Cannot read the configuration "${file}": it is a directory. Name a file.`,
    );
    const { project: other, env: otherEnv } = workshop();
    symlinkSync('nowhere', join(other, 'toolexec.toml'));
    expect(refusal({ cwd: other, env: otherEnv }).message).toContain(
      'it is a symbolic link that leads nowhere.',
    );
    expect(refusal({ cwd: home, env, configFile: 'missing.toml' }).message).toContain('it does not exist.');
    expect(refusal({ cwd: home, env, configFile: '' }).message).toContain('name a file.');
  });

  it('refuses a file that may not be read', () =>
    unprivileged(() => {
      const { project, env, write } = workshop();
      const secret = write('secret.toml', '');
      chmodSync(secret, 0);
      const { message } = refusal({ cwd: project, env, configFile: secret });
      expect(message).toContain('permission is denied');
    }));
});

function settingOf(sources: ConfigSources, name: string): ResolvedSetting {
  const setting = resolveConfig(sources).settings.find(({ key }) => key === name);
  if (setting === undefined) throw new Error(`there is no ${name}`);
  return setting;
}

function refusal(sources: ConfigSources): ToolError {
  try {
    resolveConfig(sources);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
