import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isWaitingAnswer, WAITING_ANSWER, waitingHint } from '../contract/approval.js';
import type { ToolCall, ToolFailure } from '../contract/call.js';
import type { RunOptions } from '../contract/executor.js';
import { ToolError } from '../errors/tool-error.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { writeResults } from '../providers/write-results.js';
import { createExecutor } from './create-executor.js';
import { defineTool } from './declare/define-tool.js';
import type { ExecutorOptions } from './executor-options.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolexec-messages-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A failing call, the cause, and the message for the developer or the person if they can do something. */
interface Provoked {
  readonly name: string;
  readonly args?: ToolCall['args'];
  readonly code: string;
  readonly hint?: RegExp;
  readonly options?: ExecutorOptions;
  readonly run?: RunOptions;
}

const failing = (how: (ctx: Parameters<Parameters<typeof defineTool>[0]['execute']>[1]) => unknown) =>
  defineTool({
    name: 'probe',
    description: 'Fails.',
    input: { type: 'object' },
    effects: () => [],
    execute: async (_, ctx) => {
      await how(ctx);
      return 'it did not fail';
    },
  });
const with_ = (how: Parameters<typeof failing>[0]): ExecutorOptions => ({ tools: [failing(how)] });

const broken = (): ExecutorOptions => {
  const journal = createMemoryJournal();
  const accept = (): never => {
    throw new ToolError(
      'journal_unavailable',
      'Cannot use the journal "/x.db": the disk is full. Free disk space.',
    );
  };
  return {
    journal: Object.assign(Object.create(journal), { accept, durable: true }),
    policy: { mode: 'auto' },
  };
};

const WRITE = { name: 'write_file', args: { path: 'new.txt', content: 'x' } };
const AUTO: ExecutorOptions = { policy: { mode: 'auto', denylist: [] }, approver: null };

const PROVOKED: Readonly<Record<string, Provoked>> = {
  'an unknown tool': { name: 'raed_file', code: 'unknown_tool' },
  'wrong arguments': { name: 'read_file', args: { pth: 'x' }, code: 'bad_args' },
  'arguments that are too large': {
    name: 'read_file',
    args: { path: 'x'.repeat(300_000) },
    code: 'limit_exceeded',
  },
  'too many calls': {
    ...WRITE,
    code: 'limit_exceeded',
    hint: /maxToolCallsPerBatch/,
    options: { limits: { maxToolCallsPerBatch: 1 } },
  },
  'nobody to ask': { ...WRITE, code: 'approval_unavailable', hint: /allowlist.*Give an approver/ },
  'an approver that throws': {
    ...WRITE,
    code: 'approval_unavailable',
    hint: /The approver failed: no terminal/,
    options: { approver: () => Promise.reject(new Error('no terminal')) },
  },
  'an approver without a decision': {
    ...WRITE,
    code: 'approval_unavailable',
    hint: /approver gave no decision/,
    options: { approver: () => JSON.parse('{}') },
  },
  'a deferred call': {
    ...WRITE,
    code: 'approval_unavailable',
    hint: /toolexec approve .*executor\.approve\(\)/,
    run: { conversation: 'c', defer: true },
  },
  'a denial': { ...WRITE, code: 'user_denied', options: { approver: () => ({ kind: 'deny_all' }) } },
  'the denylist': { name: 'run_command', args: { command: 'ls' }, code: 'denylisted', hint: /denylist/ },
  'the mode deny': {
    ...WRITE,
    code: 'policy_denied',
    hint: /mode "deny".*allowlist/,
    options: { policy: { mode: 'deny' } },
  },
  'a rule': {
    ...WRITE,
    code: 'policy_denied',
    hint: /rules\[0\]/,
    options: { policy: { rules: [{ decision: 'deny', path: '*.txt' }] } },
  },
  'a policy that is switched off': {
    ...WRITE,
    code: 'policy_disabled',
    hint: /policy\.enabled to true/,
    options: { policy: { enabled: false } },
  },
  'mode disabled': {
    ...WRITE,
    code: 'tools_disabled',
    hint: /mode is disabled/,
    options: { mode: 'disabled' },
  },
  'mode parse_only': {
    ...WRITE,
    code: 'tools_disabled',
    hint: /parse_only/,
    options: { mode: 'parse_only' },
  },
  'a path outside': { name: 'read_file', args: { path: '../x' }, code: 'sandbox_violation' },
  'a denied path': { name: 'read_file', args: { path: '.env' }, code: 'sandbox_violation' },
  'a hard link': {
    name: 'read_file',
    args: { path: 'linked.txt' },
    code: 'sandbox_violation',
    hint: /hardLinks/,
    options: { sandbox: { hardLinks: 'refuse' } },
  },
  'a link that leads outside': { name: 'read_file', args: { path: 'outside' }, code: 'sandbox_violation' },
  'a file that is not there': { name: 'read_file', args: { path: 'none' }, code: 'execution_failed' },
  'a file that exists': {
    name: 'write_file',
    args: { path: 'a.txt', content: '' },
    code: 'execution_failed',
    options: AUTO,
  },
  'a patch that does not fit': {
    name: 'apply_patch',
    args: { patch: 'LP1\nF a.txt\nX\nEND\n' },
    code: 'patch_failed',
    options: AUTO,
  },
  'an edit that does not fit': {
    name: 'edit_file',
    args: { path: 'a.txt', old_string: 'no', new_string: 'x' },
    code: 'patch_failed',
    options: AUTO,
  },
  'a pattern with look-ahead': { name: 'grep', args: { pattern: '(?=a)b', path: '.' }, code: 'bad_args' },
  'a pattern over lines': { name: 'grep', args: { pattern: 'a\\nb', path: '.' }, code: 'bad_args' },
  'a file type that is none': {
    name: 'grep',
    args: { pattern: 'a', path: '.', type: 'zzz' },
    code: 'bad_args',
  },
  'a listing without room': {
    name: 'list_directory',
    args: { path: '.' },
    code: 'execution_failed',
    options: { output: { maxBytes: 60 } },
  },
  'a command that fails': {
    name: 'bash',
    args: { command: 'exit 3' },
    code: 'execution_failed',
    options: AUTO,
  },
  'a command over its limit': {
    name: 'bash',
    args: { command: 'head -c 3000000 /dev/zero > big' },
    code: 'execution_failed',
    hint: /commandLimits\.fileSizeMb/,
    options: { ...AUTO, commandLimits: { fileSizeMb: 1 } },
  },
  'a command that is blocked': {
    name: 'bash',
    args: { command: 'rm -rf /' },
    code: 'security_violation',
    options: AUTO,
  },
  'a background shell that is not there': {
    name: 'kill_shell',
    args: { shell_id: 'none' },
    code: 'execution_failed',
    options: AUTO,
  },
  'a journal that cannot record': {
    ...WRITE,
    code: 'journal_unavailable',
    hint: /disk is full/,
    options: broken(),
  },
  'a file that was not declared': {
    name: 'probe',
    code: 'sandbox_violation',
    hint: /Declare \{ kind: 'read', path \}/,
    options: with_(({ files }) => files.read('a.txt')),
  },
  'a command that was not declared': {
    name: 'probe',
    code: 'sandbox_violation',
    hint: /Declare \{ kind: 'run'/,
    options: with_(({ processes }) => processes.run({ shell: 'sh', command: 'ls' })),
  },
  'a search that was not declared': {
    name: 'probe',
    code: 'sandbox_violation',
    hint: /Declare \{ kind: 'read', path \}/,
    options: with_(({ search }) =>
      search.files({
        path: '.',
        pattern: '**',
        includeHidden: false,
        includeIgnored: false,
        limit: 1,
      } as never),
    ),
  },
  'a tool that says what its developer can do': {
    name: 'probe',
    code: 'execution_failed',
    hint: /^Set CITY_KEY\.$/,
    options: with_(() => {
      throw new ToolError('execution_failed', 'There is no weather today.', { hint: 'Set CITY_KEY.' });
    }),
  },
  'middleware that gives no result': {
    ...WRITE,
    code: 'invalid_tool_output',
    hint: /Middleware/,
    options: { ...AUTO, middleware: [async () => JSON.parse('{}')] },
  },
};

/**
 * Words that only a developer or a person at a terminal can type; names of options as written in code and
 * files.
 */
const VOCABULARY = [
  /\btoolexec \w/,
  /\bexecutor\b/i,
  /\bapprover\b/i,
  /(?:^|\s)--[a-z]/,
  /\b\w+List\b|\b(?:allow|deny)list\b/i,
  /\[tools\b|\.toml\b/,
  /\bDeclare \{|\beffects\b/,
  /\brules\[\d/,
  /\b(?:Install|sysctl|apt install)\b/,
  /\bnext\(\)|\bmiddleware\b/i,
];
const OPTIONS = [
  'maxToolCallsPerBatch',
  'maxToolArgsBytes',
  'promptSideEffects',
  'hardLinks',
  'allowAbsolute',
  'parse_only',
  'file_size_mb',
  'cpu_seconds',
  'max_tool_args_bytes',
  'max_tool_calls_per_batch',
  'prompt_side_effects',
];

async function provoke({ name, args = {}, options, run }: Provoked): Promise<ToolFailure> {
  await using executor = createExecutor({ root, ...options });
  const call = { id: 'first', name, args };
  // The surplus call comes second.
  const calls = options?.limits === undefined ? [call] : [{ ...call, id: 'zero' }, call];
  const results = await executor.run(calls, run);
  const result = results.at(-1);
  if (result === undefined || result.success) throw new Error(`${name} did not fail`);
  return result;
}

it.each(Object.entries(PROVOKED))(
  '%s: the message speaks to the model, the hint to the others',
  async (_, provoked) => {
    mkdirSync(join(root, 'sub'));
    writeFileSync(join(root, 'a.txt'), 'a\n');
    writeFileSync(join(root, '.env'), '');
    linkSync(join(root, 'a.txt'), join(root, 'linked.txt'));
    symlinkSync('/etc', join(root, 'outside'));
    const result = await provoke(provoked);
    const { code, message, hint } = result.error;
    expect(code, message).toBe(provoked.code);
    expect(message).toMatch(/\S/);
    const words = [...VOCABULARY, ...OPTIONS.map((key) => new RegExp(`\\b${key}\\b`))];
    expect(
      words.filter((word) => word.test(message)),
      message,
    ).toEqual([]);
    if (provoked.hint === undefined) expect(hint).toBeUndefined();
    else expect(hint).toMatch(provoked.hint);
    for (const format of ['anthropic', 'openai', 'openai-responses', 'gemini'] as const) {
      const written = JSON.stringify(writeResults(format, [result]));
      if (hint !== undefined) expect(written).not.toContain(JSON.stringify(hint).slice(1, -1));
    }
  },
);

it('a waiting call is recognised in saved conversations, by its present and its earlier answer', () => {
  const before =
    'Not run yet: its batch waits for approval. Decide with "toolexec approve b-1", in a program with executor.approve().';
  expect([WAITING_ANSWER, before].map(isWaitingAnswer)).toEqual([true, true]);
  const others = [`${WAITING_ANSWER} `, `> ${before}`, waitingHint('b-1'), before.replace('b-1', 'b 1'), ''];
  expect(others.filter(isWaitingAnswer)).toEqual([]);
});
