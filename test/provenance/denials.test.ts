import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecutor, type ToolResult } from '../../src/index.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';

const WHY_NOT = await whyNoTransactions();

/** The states of the protected paths; every answer must be the same for each. */
const WORLDS: Readonly<Record<string, (root: string) => void>> = {
  missing: () => undefined,
  small: (root) => {
    mkdirSync(join(root, 'vault'));
    writeFileSync(join(root, 'vault/key.pem'), 'a');
  },
  large: (root) => {
    mkdirSync(join(root, 'vault'));
    writeFileSync(join(root, 'vault/key.pem'), 'needle\n'.repeat(100_000));
    for (let count = 0; count < 50; count++) writeFileSync(join(root, `vault/${count}`), 'needle');
  },
  'a directory': (root) => mkdirSync(join(root, 'vault/key.pem'), { recursive: true }),
};

const CALLS: readonly (readonly [name: string, args: Record<string, unknown>])[] = [
  ['read_file', { path: 'vault/key.pem' }],
  ['read_file', { path: 'vault/key.pem', start_line: 99_999, end_line: 100_000 }],
  ['read_file', { path: 'vault/key.pem', offset: 500_000, limit: 10 }],
  ['read_file', { path: 'vault/key.pem/below' }],
  ['list_directory', { path: 'vault' }],
  ['list_directory', { path: '.', recursive: true }],
  ['glob', { pattern: '**/*.pem' }],
  ['glob', { pattern: 'vault/*' }],
  ['glob', { pattern: '*', path: 'vault' }],
  ['grep', { pattern: 'needle' }],
  ['grep', { pattern: 'needle', path: 'vault' }],
  ['grep', { pattern: 'needle', path: 'vault/key.pem', output_mode: 'count' }],
  ['write_file', { path: 'vault/key.pem', content: 'x' }],
  ['write_file', { path: 'vault/key.pem', content: 'x', mode: 'overwrite' }],
  ['write_file', { path: 'vault/key.pem', content: 'x', mode: 'append' }],
  ['edit_file', { path: 'vault/key.pem', old_string: 'needle', new_string: 'x' }],
  [
    'apply_patch',
    { patch: '*** Begin Patch\n*** Update File: vault/key.pem\n@@\n-needle\n+x\n*** End Patch' },
  ],
  ['apply_patch', { patch: '*** Begin Patch\n*** Add File: vault/key.pem\n+x\n*** End Patch' }],
  ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: vault/key.pem\n*** End Patch' }],
];

/** Questions to the file system by commands in the sandbox, which hides denied paths. */
const COMMANDS = [
  'cat vault/key.pem',
  'stat -c %s vault/key.pem',
  'test -s vault/key.pem && echo there',
  'ls vault',
  'find vault -size +1k',
  'grep -r needle vault',
  'echo x >vault/key.pem',
  'mv vault elsewhere',
  'tar cf - vault | wc -c',
];

async function answersIn(
  make: (root: string) => void,
  calls: readonly (readonly [name: string, args: Record<string, unknown>])[] = CALLS,
): Promise<string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-denials-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, 'open.txt'), 'a needle\n');
  make(root);
  await using executor = createExecutor({
    root,
    approver: null,
    journal: false,
    sandbox: { os: 'preferred', deniedPatterns: ['vault', 'vault/**'] },
  });
  const answers: string[] = [];
  for (const [name, args] of calls) {
    const { toolName, success, output, error, metadata, truncated }: ToolResult = await executor.execute(
      name,
      args as never,
    );
    const told = JSON.stringify({ toolName, success, output, error, metadata, truncated });
    answers.push(
      told.replaceAll(root, '<root>').replace(/modified_epoch_ms\\":\d+|"duration_ms":\d+/g, 'time'),
    );
  }
  return answers;
}

describe('a denied call', () => {
  it('answers the same whatever is there: existence, size, kind and content of a denied path', async () => {
    const missing = await answersIn(WORLDS.missing as never);
    expect(missing).toHaveLength(CALLS.length);
    for (const [name, make] of Object.entries(WORLDS)) {
      const answers = await answersIn(make);
      for (const [index, answer] of answers.entries()) {
        expect({ world: name, call: CALLS[index], answer }).toEqual({
          world: name,
          call: CALLS[index],
          answer: missing[index],
        });
      }
    }
  });

  describe.skipIf(WHY_NOT !== '')(`of a command${WHY_NOT}`, () => {
    eachOf<[string]>([['a directory'], ['small'], ['large']], 1)(
      'answers as if nothing were there: %s',
      async (name) => {
        const calls = COMMANDS.map((command) => ['bash', { command }] as const);
        const missing = await answersIn(WORLDS.missing as never, calls);
        const answers = await answersIn(WORLDS[name] as never, calls);
        for (const [index, answer] of answers.entries()) {
          const command = COMMANDS[index];
          expect({ command, answer }).toEqual({ command, answer: missing[index] });
        }
      },
      60_000,
    );
  });

  it('is checked by this test: without the denial, the results differ', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-denials-')));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    await using executor = createExecutor({ root, approver: null, journal: false });
    const before = await executor.execute('read_file', { path: 'open.txt' });
    writeFileSync(join(root, 'open.txt'), 'x');
    expect((await executor.execute('read_file', { path: 'open.txt' })).success).not.toBe(before.success);
  });
});
