import {
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
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { commitSettings, planInstall } from './agent-settings.js';

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

it('settings that cannot be read are named in one sentence', () => {
  const place = projectWith('// mine\n{}\n');
  expect(() => planInstall(place, LINES)).toThrow(/cannot be read: .*[^.]$/s);
});
