import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { unprivileged } from '../platform/fixtures/unprivileged.js';
import { commitSettings, planInstall, planRemove, SettingsProblem, settingsFile } from './agent-settings.js';
import type { AgentName } from './agents.js';
import { switchedOff } from './switched-off.js';

function projectWith(settings: string) {
  const project = mkdtempSync(join(tmpdir(), 'toolexec-settings-'));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  mkdirSync(join(project, '.claude'));
  writeFileSync(join(project, '.claude/settings.json'), settings);
  return { agent: 'claude-code', isUsers: false, project, env: {} } as const;
}

const LINES = {
  before: 'toolexec hook --for claude-code || exit 2',
  other: 'toolexec hook --for claude-code',
};

it('bug: a second install moved the events of settings that had an event without hooks', () => {
  const place = projectWith(
    '{"hooks":{"Stop":[],"PreToolUse":[{"hooks":[{"type":"command","command":"mine"}]}]}}',
  );
  const first = planInstall(place, LINES);
  commitSettings(first);
  expect(readFileSync(first.file, 'utf8')).toContain('"mine"');
  const second = planInstall(place, LINES);
  expect(second.after).toBe(second.before);
});

it('bug: the link of a person to their settings was replaced by a file; that of a project is refused', () => {
  const place = projectWith('{}');
  const link = join(place.project, '.claude/settings.json');
  const kept = join(place.project, 'kept.json');
  renameSync(link, kept);
  symlinkSync(kept, link);
  expect(() => commitSettings(planInstall(place, LINES))).toThrow(`"${link}" is a link`);
  expect(readFileSync(kept, 'utf8')).toBe('{}');
  const env = { CLAUDE_CONFIG_DIR: join(place.project, '.claude') };
  commitSettings(planInstall({ ...place, isUsers: true, env }, LINES));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(kept, 'utf8')).toContain('toolexec hook');
});

it('the event before commands of skills is installed on request alone, and goes with the next install without it', () => {
  const place = projectWith('{}');
  const install = (skills: boolean): readonly string[] => {
    const change = planInstall(place, { ...LINES, skills });
    commitSettings(change);
    return Object.keys(JSON.parse(change.after ?? '').hooks);
  };
  expect(install(true)).toContain('PreSkillShellCommand');
  expect(install(false)).not.toContain('PreSkillShellCommand');
});

it('bug: settings written on Windows lost their line ends and their byte order mark', () => {
  const mine = '\uFEFF{\r\n\t"model": "x"\r\n}\r\n';
  const place = projectWith(mine);
  const change = planInstall(place, LINES);
  expect(change.before).toBe(mine);
  expect(change.after).toMatch(/^\uFEFF\{\r\n\t"model": "x",\r\n\t"hooks"/);
  expect(change.after?.replaceAll('\r\n', '')).not.toContain('\n');
  commitSettings(change);
  // Something else has changed the file since, so that the earlier bytes are not simply put back.
  writeFileSync(change.file, change.after?.replace('"x"', '"y"') ?? '');
  commitSettings(planRemove(place, { before: mine, after: change.after ?? '', madeDirectory: false }));
  expect(readFileSync(change.file, 'utf8')).toBe(mine.replace('"x"', '"y"'));
});

it.each<[AgentName, string, string]>([
  ['claude-code', '{ "allow": ["Bash(ls)", "Read"] }\n', '"allow": ["Bash(ls)", "Read"]'],
  [
    'codex',
    '{"hooks": {\n "Stop": [ {"hooks":[{"type":"command", "command":"mine"}]} ]\n}}',
    '"command":"mine"}]}',
  ],
  [
    'gemini-cli',
    '// mine\n{\n\t"ui": {} // dark, "x"\n\t/* later */\n}\n',
    '{}, // dark, "x"\n\t/* later */\n\t"hooks"',
  ],
])('bug: settings of %s got another layout, or could not have comments', (agent, mine, kept) => {
  const place = { ...projectWith('{}'), agent };
  const lines = { before: `toolexec hook --for ${agent} || exit 2`, other: `toolexec hook --for ${agent}` };
  const file = settingsFile(place);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, mine);
  const change = planInstall(place, lines);
  commitSettings(change);
  expect(change.after).toContain(kept);
  // Another program has changed the file since, so that the earlier bytes are not simply put back.
  const edited = (text = ''): string => text.replace('{', '\n{');
  writeFileSync(file, edited(change.after));
  commitSettings(planRemove(place, { before: mine, after: change.after ?? '', madeDirectory: false }));
  expect(readFileSync(file, 'utf8')).toBe(edited(mine));
});

it('settings that cannot be read are named in one sentence', () => {
  const place = projectWith('// mine\n{}\n');
  expect(() => planInstall(place, LINES)).toThrow(/cannot be read: .*[^.]$/s);
});

it.each([
  [
    'an event that is an object',
    '{"hooks":{"PreToolUse":{"matcher":"x"}}}',
    /hooks\.PreToolUse in .* is not a list/,
  ],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /cannot be read: it is UTF-16/],
])(
  'bug: settings with %s were overwritten, or reported as a failure inside toolexec',
  (_what, text, message) => {
    const place = projectWith('');
    const file = join(place.project, '.claude/settings.json');
    writeFileSync(file, text);
    const attempt = (): unknown => planInstall(place, LINES);
    expect(attempt).toThrow(SettingsProblem);
    expect(attempt).toThrow(message);
  },
);

it.skipIf(process.getuid?.() !== 0)('bug: root took over the settings of a person', () => {
  const place = projectWith('{}');
  const file = join(place.project, '.claude/settings.json');
  chownSync(file, 12_345, 12_346);
  commitSettings(planInstall(place, LINES));
  expect([lstatSync(file).uid, lstatSync(file).gid]).toEqual([12_345, 12_346]);
});

it.skipIf(process.platform === 'win32')(
  'bug: settings that cannot be written were a failure inside toolexec, or counted as removed',
  async () => {
    await unprivileged(() => {
      const place = projectWith('{}');
      const folder = join(place.project, '.claude');
      const install = planInstall(place, LINES);
      chmodSync(folder, 0o555);
      expect(() => commitSettings(install)).toThrow(/^".*" cannot be written \(EACCES\)$/);
      expect(() => commitSettings({ ...install, after: undefined })).toThrow(/^".*" cannot be removed$/);
      chmodSync(folder, 0o755);
      // Under another effective user, access(2) still sees root.
      if (process.getuid?.() === 0) return;
      chmodSync(install.file, 0o444);
      expect(() => commitSettings(install)).toThrow(/cannot be written/);
    });
  },
);

it.skipIf(process.platform === 'win32')(
  'bug: settings lost their mode, so that others could not read them',
  () => {
    const place = projectWith('{}');
    const file = join(place.project, '.claude/settings.json');
    for (const mode of [0o644, 0o664, 0o600]) {
      writeFileSync(file, '{}');
      chmodSync(file, mode);
      commitSettings(planInstall(place, LINES));
      expect(lstatSync(file).mode & 0o777).toBe(mode);
    }
  },
);

it.each<[AgentName, string, string, string]>([
  ['claude-code', '.claude/settings.json', '{"disableAllHooks":true}', 'disableAllHooks'],
  ['claude-code', '.claude/settings.local.json', '{"disableAllHooks":true}', 'disableAllHooks'],
  ['gemini-cli', '.gemini/settings.json', '{"hooksConfig":{"enabled":false}}', 'hooksConfig.enabled'],
  ['gemini-cli', '.gemini/settings.json', '{"hooks":{"disabled":["toolexec"]}}', 'hooks.disabled'],
])('bug: hooks of %s that %s switches off counted as a guard', (agent, file, settings, key) => {
  const place = { ...projectWith('{}'), agent };
  expect(switchedOff(place)).toBeUndefined();
  mkdirSync(dirname(join(place.project, file)), { recursive: true });
  writeFileSync(join(place.project, file), settings);
  expect(switchedOff(place)).toContain(`switched off (${key})`);
});
