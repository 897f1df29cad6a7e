import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { answerOf } from '../../src/guard/answer-event.js';
import { readDocument } from '../../src/guard/document.js';
import { sampleDocuments } from '../../src/guard/sample-documents.js';
import { unpackPublished } from '../hosts/published-package.js';

const CLAUDE = '@anthropic-ai/claude-agent-sdk@0.3.330';
const GEMINI = '@google/gemini-cli-core@0.61.0';
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'toolexec-agent-types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns undefined: the registry cannot be reached */
function unpack(name: string, place: string): string | undefined {
  return unpackPublished(name, join(folder, place)) ? join(folder, place) : undefined;
}

const claude = unpack(CLAUDE, 'claude');
const gemini = unpack(GEMINI, 'gemini');
const WHY_NOT = claude === undefined || gemini === undefined ? ' (the npm registry cannot be reached)' : '';

/** The compiler's errors for a program; empty if the program matches the types. */
function compile(text: string): string {
  const file = join(folder, 'fits.ts');
  writeFileSync(file, text);
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];
  return spawnSync(process.execPath, [TSC, ...options, file], {
    encoding: 'utf8',
  }).stdout.trim();
}

const answersFor = (agent: 'claude-code' | 'gemini-cli', text: string): readonly string[] => {
  const document = readDocument(text, agent);
  const decisions = [
    { kind: 'allow', reason: 'r' },
    { kind: 'ask', reason: 'r' },
    { kind: 'deny', reason: 'r' },
    { kind: 'allow', reason: 'r', input: { command: 'x' } },
  ] as const;
  return decisions.flatMap((decision) => {
    const answer = answerOf(document, decision);
    return answer === undefined ? [] : [JSON.stringify(answer)];
  });
};

const calls = (agent: 'claude-code' | 'gemini-cli'): readonly string[] =>
  sampleDocuments(agent, '/').flatMap(({ text }) => (text.endsWith('}') ? [text] : []));

describe.skipIf(WHY_NOT !== '')(`the types that agents publish${WHY_NOT}`, () => {
  it('of Claude Code fit what is sent in tests and answered, and no other shape', () => {
    const from = JSON.stringify(join(claude ?? '', 'sdk.js'));
    const permission = JSON.stringify({
      ...JSON.parse(calls('claude-code')[0] ?? ''),
      hook_event_name: 'PermissionRequest',
    });
    const lines = [
      `import type { PreToolUseHookInput, PermissionRequestHookInput, SyncHookJSONOutput } from ${from};`,
      ...calls('claude-code').map((text, at) => `export const in${at}: PreToolUseHookInput = ${text};`),
      `const permission = ${permission} as const; export const asked: PermissionRequestHookInput = { ...permission };`,
      ...[
        ...answersFor('claude-code', calls('claude-code')[0] ?? ''),
        ...answersFor('claude-code', permission),
      ].map((text, at) => `export const out${at}: SyncHookJSONOutput = ${text};`),
    ];
    expect(compile(lines.join('\n'))).toBe('');
    const wrong =
      "export const wrong: SyncHookJSONOutput = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'perhaps' } };";
    expect(compile([...lines, wrong].join('\n'))).toMatch(/perhaps/);
  });

  it('of Gemini CLI fit what is sent in tests and answered, and no other shape', () => {
    const from = JSON.stringify(join(gemini ?? '', 'dist/src/hooks/types.js'));
    const lines = [
      `import type { BeforeToolInput, BeforeToolOutput } from ${from};`,
      ...calls('gemini-cli').map((text, at) => `export const in${at}: BeforeToolInput = ${text};`),
      ...answersFor('gemini-cli', calls('gemini-cli')[0] ?? '').map(
        (text, at) => `export const out${at}: BeforeToolOutput = ${text};`,
      ),
    ];
    expect(compile(lines.join('\n'))).toBe('');
    expect(
      compile([...lines, "export const wrong: BeforeToolOutput = { decision: 'perhaps' };"].join('\n')),
    ).toMatch(/perhaps/);
  });

  it('name no event that is unknown here', () => {
    const listed =
      /HOOK_EVENTS: readonly \[([^\]]+)\]/.exec(readFileSync(join(claude ?? '', 'sdk.d.ts'), 'utf8'))?.[1] ??
      '';
    const enumerated =
      /enum HookEventName \{([^}]+)\}/.exec(
        readFileSync(join(gemini ?? '', 'dist/src/hooks/types.d.ts'), 'utf8'),
      )?.[1] ?? '';
    const events = [...listed.matchAll(/'(\w+)'/g), ...enumerated.matchAll(/"(\w+)"/g)].map(
      ([, name = '']) => name,
    );
    expect(events.length).toBeGreaterThan(40);
    for (const hook_event_name of events)
      expect(() =>
        readDocument(
          JSON.stringify({
            hook_event_name,
            session_id: 's',
            cwd: '/',
            tool_name: 'T',
            tool_input: {},
            tool_calls: [],
          }),
        ),
      ).not.toThrow();
  });
});
