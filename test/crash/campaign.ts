import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CrashTrial } from '../../src/testing/crash-trial.js';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import type { runTrial } from '../../src/testing/run-crash-trial.js';
import { builtCommand } from '../cli/built-command.js';

/**
 * The kit next to a built package, with controls that no entry point exports: the tested processes are the built ones.
 */
export async function builtKit(): Promise<{ readonly runTrial: typeof runTrial; readonly door: string }> {
  const dist = dirname(dirname(builtCommand()));
  const source = join(import.meta.dirname, '..', '..', 'src', 'testing', 'run-crash-trial.ts');
  const outfile = bundleProgram(source, dist);
  const kit: unknown = await import(pathToFileURL(outfile).href);
  return { ...(kit as { runTrial: typeof runTrial }), door: pathToFileURL(join(dist, 'index.js')).href };
}

/** A module of tools: the built-in ones, and two without undo and probe. */
export function writeTools(door: string): string {
  const module = join(mkdtempSync(join(tmpdir(), 'toolexec-campaign-')), 'tools.mjs');
  writeFileSync(
    module,
    `import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtinTools, defineTool } from ${JSON.stringify(door)};
// A payment: it goes out at once, and twice is once too often.
const pay = defineTool({
  name: 'pay', description: 'Pays.', input: { type: 'object', properties: { book: { type: 'string' } } },
  execute: async ({ book }, { callId }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    appendFileSync(book, callId + '\\n');
    await new Promise((resolve) => setTimeout(resolve, 2));
    return 'paid';
  },
});
export default [...builtinTools(), pay];
`,
  );
  return module;
}

export interface Campaign extends CrashTrial {
  readonly title: string;
}

type Observe = NonNullable<CrashTrial['observe']>;

/** Every file tool in one batch; each outcome can be known. */
export function fileCampaign(tools: string): Campaign {
  return {
    title: 'every file tool',
    tools,
    calls: [
      { id: 'create', name: 'write_file', args: { path: 'deep/new.txt', content: 'new\n' } },
      {
        id: 'overwrite',
        name: 'write_file',
        args: { path: 'old.txt', content: 'second\n', mode: 'overwrite' },
      },
      { id: 'append', name: 'write_file', args: { path: 'log.txt', content: 'two\n', mode: 'append' } },
      { id: 'read', name: 'read_file', args: { path: 'edit.txt' } },
      {
        id: 'edit',
        name: 'edit_file',
        args: { path: 'edit.txt', old_string: 'colour', new_string: 'color' },
      },
      { id: 'look', name: 'read_file', args: { path: 'gone.txt' } },
      { id: 'patch', name: 'apply_patch', args: { patch: PATCH } },
    ],
    prepare: (root) => {
      const before = {
        'old.txt': 'first\n',
        'log.txt': 'one\n',
        'edit.txt': 'a colour\n',
        'gone.txt': 'bye\n',
      };
      mkdirSync(join(root, 'some'));
      for (const [name, text] of Object.entries(before)) writeFileSync(join(root, name), text);
    },
    observe: filesObserved,
    knowable: ['create', 'overwrite', 'append', 'edit', 'patch'],
  };
}

const PATCH = `*** Begin Patch
*** Add File: some/one.txt
+one
*** Add File: some/two.txt
+two
*** Delete File: gone.txt
*** End Patch
`;

const filesObserved: Observe = (root) => {
  const is = (name: string, before: string | undefined, after: string | undefined): number => {
    const text = readText(join(root, name));
    if (text === after) return 1;
    return text === before ? 0 : 0.5;
  };
  const patch = [
    is('some/one.txt', undefined, 'one\n'),
    is('some/two.txt', undefined, 'two\n'),
    is('gone.txt', 'bye\n', undefined),
  ];
  return {
    create: is('deep/new.txt', undefined, 'new\n'),
    overwrite: is('old.txt', 'first\n', 'second\n'),
    append: is('log.txt', 'one\n', 'one\ntwo\n'),
    edit: is('edit.txt', 'a colour\n', 'a color\n'),
    patch: patch.reduce((sum, part) => sum + part, 0) / patch.length,
  };
};

/** Effects that cannot be undone: a payment book outside the sandbox, and effects of commands. */
export function paymentCampaign(tools: string, parallel: boolean): Campaign {
  const book = join(dirname(tools), `book-${String(parallel)}`);
  const ids = ['pay_1', 'pay_2', 'pay_3'];
  return {
    title: parallel ? 'payments and commands side by side' : 'payments and commands one after the other',
    tools,
    parallel,
    calls: [
      ...ids.map((id) => ({ id, name: 'pay', args: { book } })),
      { id: 'shell', name: 'bash', args: { command: 'echo shell >> shell.txt' } },
    ],
    prepare: () => writeFileSync(book, ''),
    observe: (root) => {
      const paid = readFileSync(book, 'utf8').split('\n');
      const count = (lines: readonly string[], wanted: string) =>
        lines.filter((line) => line === wanted).length;
      const shell = (readText(join(root, 'shell.txt')) ?? '').split('\n');
      return { ...Object.fromEntries(ids.map((id) => [id, count(paid, id)])), shell: count(shell, 'shell') };
    },
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
