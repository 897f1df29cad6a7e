import { resolve } from 'node:path';
import { normalizeOptions } from '../base/normalize-options.js';
import type { GuardedPaths, Sandbox } from '../contract/files.js';
import type { Policy } from '../contract/policy.js';
import type { Confinement, TransactionRules } from '../contract/processes.js';
import type { Registry } from '../contract/tool.js';
import { sandboxIn, sandboxSeenFrom } from '../files/create-sandbox.js';
import { createRootSet } from '../files/root-set.js';
import type { FileView } from '../platform/fs/open-handle.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import type { ExecutorSettings } from './call/settings.js';
import { type ExecutorOptions, SANDBOX_RULES } from './executor-options.js';
import { pathOfJournal } from './journal-place.js';
import { isLedByLink, ownDirectories, ownPatterns, waysToOwn } from './own-places.js';
import { transactionRules } from './transaction-rules.js';

/**
 * What an executor's calls can reach: the sandbox for files, and the confinement of commands.
 * @throws ToolError `config_invalid` for a wrong option, or a root that does not exist
 */
export function sandboxFor(
  { root = ['.'], sandbox: given, journal = false, policy: givenPolicy, profile }: ExecutorOptions,
  asked: { readonly policy: Policy | null; readonly registry: Registry },
): {
  readonly sandbox: Sandbox;
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly seenFrom: (view: FileView) => Sandbox;
  readonly programs: ExecutorSettings['programs']['which'];
  readonly exposePorts: boolean;
} {
  const options = normalizeOptions(
    'sandbox',
    given,
    profile === 'contained' ? CONTAINED_RULES : SANDBOX_RULES,
  );
  const { os, network, readable, allowAbsolute, hardLinks, transactions, exposePorts, ...others } = options;
  const { maxTransactionMb, onTimeout, onConflict, externalTools, ...patterns } = others;
  const rootSet = createRootSet({ roots: [root].flat(), allowAbsolute, hardLinks });
  const own = ownDirectories(rootSet.roots);
  const journalFile = pathOfJournal(journal);
  const hasDefaults = patterns.includeDefaultDenies !== false;
  const deniedWritePatterns = [
    ...(patterns.deniedWritePatterns ?? []),
    ...(hasDefaults ? ownPatterns(rootSet.roots, journalFile) : []),
  ];
  const denies = { ...patterns, deniedWritePatterns };
  const sandbox = sandboxIn(rootSet, denies);
  const ledByLink = (): boolean => hasDefaults && isLedByLink(rootSet.roots, journalFile);
  const guarded: Confinement['guarded'] = (every, read) => {
    const found = sandbox.guarded?.(every, read) ?? NOTHING_GUARDED;
    return transactions === 'off' && ledByLink() ? { ...found, incomplete: true } : found;
  };
  const readablePaths = readable.map((path) => resolve(path));
  const rules = transactionRules(
    { transactions, maxTransactionMb, onTimeout, onConflict },
    {
      sandbox,
      ways: hasDefaults ? () => waysToOwn(rootSet.roots, journalFile) : undefined,
      ...asked,
      hasRules: typeof givenPolicy !== 'function' && !(givenPolicy && 'decide' in givenPolicy),
      journalFile,
      env: readEnvironment(),
    },
  );
  const confinement = {
    ...{ os, network, readable: readablePaths, roots: sandbox.roots, guarded, rooms: {} },
    readAhead: async () => sandbox.readAhead?.(),
    ...(hasDefaults ? { own, ledByLink } : {}),
  };
  return {
    sandbox,
    confinement: transactions === 'off' ? confinement : { ...confinement, transactions: rules },
    rules,
    seenFrom: (view) => sandboxSeenFrom(view, rootSet, denies),
    programs: externalTools,
    exposePorts,
  };
}

/** The defaults of the profile for settings that `sandbox` leaves out. */
const CONTAINED_RULES: typeof SANDBOX_RULES = {
  ...SANDBOX_RULES,
  os: { ...SANDBOX_RULES.os, fallback: 'required' },
};

const NOTHING_GUARDED: GuardedPaths = { hidden: [], readOnly: [], missing: [], incomplete: false };
