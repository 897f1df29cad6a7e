import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { builtinTools, createExecutor, defineTool, type JsonObject } from '../../src/index.js';
import { builtCommand } from './built-command.js';
import { type Ran, Toolexec } from './toolexec.js';

/** Commands, addresses, paths and outputs that are meant to deceive. */
export const HOSTILE: {
  readonly commands: readonly string[];
  readonly urls: readonly string[];
  readonly paths: readonly string[];
  readonly output: readonly (readonly string[])[];
  readonly json: readonly string[];
} = JSON.parse(readFileSync(join(import.meta.dirname, '../attacks/hostile-texts.json'), 'utf8'));

/** For a file of tests: a workspace with such a journal, and the commands that read it. */
export function useHostileJournal(): {
  readonly toolexec: Toolexec;
  readonly journal: (...args: readonly string[]) => Promise<Ran>;
} {
  const toolexec = new Toolexec();
  beforeAll(async () => {
    builtCommand();
    await recordHostile(toolexec.root, toolexec.journal);
  }, 120_000);
  afterAll(() => toolexec.remove());
  return {
    toolexec,
    journal: (...args) => toolexec.run(['journal', ...args, '--journal', toolexec.journal]),
  };
}

/** A journal with changes, commands, questions, failures, a waiting batch, and every hostile text. */
async function recordHostile(root: string, file: string): Promise<void> {
  const say = defineTool({
    name: 'say',
    description: 'Says.',
    input: { type: 'object' },
    effects: ({ url, path }) => [
      ...(typeof url === 'string' ? [{ kind: 'fetch', url } as const] : []),
      ...(typeof path === 'string' ? [{ kind: 'write', path } as const] : []),
    ],
    requiresApproval: (args) => typeof args.ask === 'string',
    execute: ({ fails, text }) => {
      if (typeof fails === 'string') throw new Error(fails);
      return String(text ?? 'said');
    },
  });
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n');
  const executor = createExecutor({
    root: root,
    tools: [...builtinTools(), say],
    journal: file,
    cache: false,
    limits: { maxToolCallsPerBatch: 500 },
    policy: { rules: [{ decision: 'allow', tool: 'edit_file', path: 'a.txt', effect: 'write' }] },
    approver: (requests) => ({
      kind: 'approve_selected',
      ids: requests.map(({ callId }) => callId).filter((id) => id !== 'no'),
      reasons: { no: 'Not on a Friday.' },
      by: 'anna',
    }),
  });
  const run = (
    conversation: string,
    calls: readonly (readonly [string, JsonObject, string?])[],
    defer = false,
  ) =>
    executor.run(
      calls.map(([name, args, id], index) => ({ id: id ?? `${conversation}-${index}`, name, args })),
      { conversation, defer, message: { text: `About <b>${conversation}</b>`, model: 'model-x' } },
    );
  await run('work', [
    ['read_file', { path: 'a.txt' }],
    ['edit_file', { path: 'a.txt', old_string: 'two', new_string: 'zwei' }],
    ['bash', { command: 'echo one; echo two; exit 3' }],
    ['say', { ask: 'x' }, 'no'],
    ['say', { fails: 'It broke <here>.' }],
  ]);
  await run('later', [['say', { ask: 'x' }]], true);
  const texts = [...HOSTILE.commands, ...HOSTILE.json, ...HOSTILE.paths, ...HOSTILE.urls];
  await run('hostile', [
    ...texts.map((text) => ['say', { [text.slice(0, 50)]: text, text, fails: text }] as const),
    ...HOSTILE.urls.map((url) => ['say', { url }] as const),
    ...HOSTILE.paths.map((path) => ['say', { path }] as const),
    ...HOSTILE.output.map(
      (chunks) => ['say', { text: Buffer.from(chunks.join(''), 'hex').toString('utf8') }] as const,
    ),
    ...texts.slice(0, 40).map((text) => [text, { x: 1 }, text] as const),
  ]);
  await executor.close();
}
