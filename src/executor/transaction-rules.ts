import { join, resolve } from 'node:path';
import type { Sandbox } from '../contract/files.js';
import type { Policy } from '../contract/policy.js';
import type { TransactionRules } from '../contract/processes.js';
import type { Registry } from '../contract/tool.js';
import { ownIds, stateHome, temporaryHome } from '../platform/runtime/environment.js';
import type { SandboxOptions } from './executor-options.js';

type TransactionOptions = Required<
  Pick<SandboxOptions, 'transactions' | 'maxTransactionMb' | 'onTimeout' | 'onConflict'>
>;

interface TransactionContext {
  readonly sandbox: Sandbox;
  /** If absent: no paths of toolexec itself are guarded. */
  readonly ways: TransactionRules['ways'];
  readonly policy: Policy | null;
  /** The policy consists of rules: only answers given by a rule count. */
  readonly hasRules: boolean;
  readonly registry: Registry;
  /** Undefined: there is no journal that outlives the process. */
  readonly journalFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The changes that a command may leave behind: those that file tools may make under the deny patterns and the rules
 * about paths.
 */
export function transactionRules(
  { transactions, maxTransactionMb, onTimeout, onConflict }: TransactionOptions,
  { sandbox, ways, policy, hasRules, registry, journalFile, env }: TransactionContext,
): TransactionRules {
  return {
    mode: transactions === 'auto' ? 'auto' : 'required',
    places: [
      ...(journalFile === undefined ? [] : [`${resolve(journalFile)}-transactions`]),
      join(stateHome(env), 'toolexec', 'transactions'),
      join(temporaryHome(), `toolexec-transactions-${ownIds().uid}`),
    ],
    maxMb: maxTransactionMb,
    onTimeout,
    onConflict,
    ways,
    refusal(path, _change, isLink) {
      const pattern = sandbox.denied?.(path, 'write');
      if (pattern !== undefined) return `the deny pattern ${pattern} covers it`;
      const below = isLink === true ? sandbox.denied?.(path, 'link') : undefined;
      return below === undefined ? undefined : `a link there leads past the deny pattern ${below}`;
    },
    isHidden: (path) => sandbox.denied?.(path, 'read') !== undefined,
    ruleRefusal(path, change, tool) {
      if (policy === null) return undefined;
      const known = tool === undefined ? undefined : registry.find(tool);
      const answer = policy.decide({
        name: tool ?? 'run_command',
        ...(known?.aliases === undefined ? {} : { aliases: known.aliases }),
        sideEffecting: true,
        requiresApproval: false,
        effects: [{ kind: change, path }],
        places: [{ at: path }],
        roots: sandbox.roots,
      });
      if (answer.disposition !== 'pre_resolved' || (hasRules && answer.rule === undefined)) return undefined;
      return answer.reason;
    },
  };
}
