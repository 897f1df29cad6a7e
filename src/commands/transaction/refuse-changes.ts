import type { CommandRequest, TransactionRules } from '../../contract/processes.js';
import type { ForbidsChange } from '../../contract/programs.js';
import { type BinaryEntry, type BinaryPath, binaryEntry, toText } from '../../platform/fs/binary-fs.js';
import { checkGit } from './check-git.js';
import type { Refusal, ScannedRoot, ScanOptions } from './found-changes.js';

/** @param tool the tool whose command made the change. @param forbids paths that its call may not change */
export function refusalBy(
  rules: TransactionRules,
  tool: string | undefined,
  forbids?: ForbidsChange,
): ScanOptions['refusal'] {
  const byPattern = refusalByPattern(rules);
  return (root, path, change, entry) => {
    const at = absolute(root, path);
    const reason =
      rules.ruleRefusal(at, change, tool) ?? forbids?.(at, change, () => isNewDirectory(root, path, entry));
    return reason === undefined ? byPattern(root, path, change, entry, at) : { reason };
  };
}

/**
 * New files with a denied name that a person approved are ordinary changes: they hide nothing that existed.
 */
export function exceptAgreed(
  refusal: ScanOptions['refusal'],
  rules: Pick<TransactionRules, 'isHidden'>,
  mayCreate: CommandRequest['mayCreate'],
): ScanOptions['refusal'] {
  return (root, path, change, entry) => {
    const refused = refusal(root, path, change, entry);
    if (refused?.byPattern !== true) return refused;
    const at = absolute(root, path);
    const isNew = change === 'write' && binaryEntry(`${root.lower}/${path}`) === undefined;
    // A new file that makes programs run code (`.envrc`) is never allowed.
    if (!isNew || (entry?.kind !== 'file' && entry?.kind !== 'dir') || !rules.isHidden(at)) return refused;
    if (mayCreate?.(at, entry.kind === 'dir') === true) return undefined;
    return { ...refused, reason: `${refused.reason}; ${HOW_TO_KEEP}` };
  };
}

const HOW_TO_KEEP = 'a new file of that name is kept when a person approves a command that names it';

function isNewDirectory(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry | undefined): boolean {
  return entry?.kind === 'dir' && binaryEntry(`${root.lower}/${path}`) === undefined;
}

/** The refusals that apply to file tools too. */
export function refusalByPattern(
  rules: TransactionRules,
): (...args: [...Parameters<ScanOptions['refusal']>, at?: string]) => Refusal | undefined {
  const ways = rules.ways?.() ?? new Set();
  return (root, path, change, entry, at = absolute(root, path)) => {
    if (ways.size > 0 && ways.has(at.toLowerCase()) && leadsElsewhere(root, path, change, entry))
      return LEADS_TO_OWN;
    if (isCheckedAsGit(rules, root, path)) {
      const answer = checkGit(root, path, change, entry);
      if (answer !== undefined) return answer === 'fine' ? undefined : answer;
    }
    const reason = rules.refusal(at, change, change === 'write' && entry?.kind === 'link');
    return reason === undefined ? undefined : { reason, byPattern: true };
  };
}

const LEADS_TO_OWN: Refusal = {
  reason: "it leads to toolexec's own files, and commands may not change that",
};

/** For an entry on the path to toolexec's own files: directories may be created and removed, if each is a directory. */
function leadsElsewhere(
  root: ScannedRoot,
  path: BinaryPath,
  change: 'write' | 'delete',
  entry: BinaryEntry | undefined,
): boolean {
  if (change === 'delete') return entry?.kind === 'link';
  const lower = binaryEntry(`${root.lower}/${path}`);
  return entry?.kind !== 'dir' || lower?.kind === 'link' || lower?.kind === 'dir';
}

/** Whether a file belongs to git, for which the rules are more permissive: only its harmless part is committed. */
export function isCheckedAsGit(
  rules: Pick<TransactionRules, 'isHidden' | 'refusal'>,
  root: ScannedRoot,
  path: BinaryPath,
): boolean {
  const slash = /(^|\/)\.git(\/|$)/.exec(path);
  if (slash === null) return false;
  const git = absolute(root, path.slice(0, slash.index + (slash[1] ?? '').length + 4));
  return !rules.isHidden(git) && rules.refusal(git, 'write') !== undefined;
}

/** As text. */
export function absolute(root: ScannedRoot | undefined, path: BinaryPath): string {
  const lower = toText(root?.lower ?? '');
  return path === '' ? lower : `${lower}/${toText(path)}`;
}
