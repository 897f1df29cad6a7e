import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { runCommand } from '../../src/commands/run-command.js';
import { openLayers } from '../../src/commands/transaction/open-layers.js';
import type { CommandOutcome, CommandRequest, TransactionRules } from '../../src/contract/processes.js';
import { createSandbox } from '../../src/files/create-sandbox.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';

const PATH = '/usr/local/bin:/usr/bin:/bin';

/** A root whose commands run in transactions. */
export interface KeptApart {
  readonly around: string;
  readonly root: string;
  readonly place: string;
  readonly run: (command: string, more?: Partial<CommandRequest>) => Promise<CommandOutcome>;
  readonly outside: (command: string, cwd?: string) => string;
  readonly remove: () => void;
}

interface Options {
  readonly deniedPatterns?: readonly string[];
  readonly rules?: Partial<TransactionRules>;
  readonly network?: boolean;
}

export function makeKeptApart({ deniedPatterns = [], rules = {}, network = false }: Options = {}): KeptApart {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'kept-apart-')));
  const [root, place] = [join(around, 'root'), join(around, 'state')];
  mkdirSync(root);
  const env = { PATH, HOME: '/root', LANG: 'C.UTF-8' };
  const sandbox = createSandbox({ roots: [root], deniedPatterns });
  const guarded = (every?: 'every') =>
    sandbox.guarded?.(every) ?? { hidden: [], readOnly: [], missing: [], incomplete: false };
  const transactions: TransactionRules = {
    mode: 'required',
    places: [place],
    maxMb: 200,
    onTimeout: 'discard',
    refusal(path) {
      const pattern = sandbox.denied?.(path, 'write');
      return pattern === undefined ? undefined : `the deny pattern ${pattern} covers it`;
    },
    ruleRefusal: () => undefined,
    isHidden: (path) => sandbox.denied?.(path, 'read') !== undefined,
    ...rules,
  };
  return {
    around,
    root,
    place,
    run: (command, more = {}) =>
      runCommand({
        shell: 'bash',
        command,
        cwd: root,
        env,
        signal: AbortSignal.timeout(30_000),
        keepBytes: 1 << 20,
        confinement: { os: 'required', network, roots: [root], readable: [], guarded, transactions },
        ...more,
      }),
    outside: (command, cwd = root) =>
      execFileSync('/bin/sh', ['-c', command], { cwd, env, encoding: 'utf8' }),
    remove: () => removeTree(around),
  };
}

/** One for each test of the file. */
export function useKeptApart(options?: Options): Omit<KeptApart, 'remove'> {
  let here: KeptApart;
  beforeEach(() => {
    here = makeKeptApart(options);
  });
  afterEach(() => here.remove());
  return {
    get around() {
      return here.around;
    },
    get root() {
      return here.root;
    },
    get place() {
      return here.place;
    },
    run: (command, more) => here.run(command, more),
    outside: (command, cwd) => here.outside(command, cwd),
  };
}

/** Why commands cannot run in transactions here, for the title of a suite; empty if they can. */
export function whyNoTransactions(): Promise<string> {
  why ??= findWhy();
  return why;
}

/** Requested by every test file that shares this process. */
let why: Promise<string> | undefined;

async function findWhy(): Promise<string> {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'kept-apart-')));
  try {
    const rules: TransactionRules = {
      mode: 'auto',
      places: [join(around, 'state')],
      maxMb: 10,
      onTimeout: 'discard',
      refusal: () => undefined,
      ruleRefusal: () => undefined,
      isHidden: () => false,
    };
    const guarded = () => ({ hidden: [], readOnly: [], missing: [], incomplete: false });
    mkdirSync(join(around, 'root'));
    const opened = await openLayers(
      { os: 'required', network: false, roots: [join(around, 'root')], readable: [], guarded },
      rules,
    );
    if ('reason' in opened) return ` (skipped: ${opened.reason})`;
    opened.drop();
    return '';
  } finally {
    removeTree(around);
  }
}
