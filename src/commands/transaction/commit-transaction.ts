import type {
  ChangedContent,
  CommandChanges,
  CommandRequest,
  Confinement,
  PreviewedChanges,
  TransactionRules,
} from '../../contract/processes.js';
import type { ForbidsChange } from '../../contract/programs.js';
import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  readBinaryFile,
  toBinary,
  toText,
} from '../../platform/fs/binary-fs.js';
import { stripAttributes } from '../../platform/process/strip-attributes.js';
import { removeLater } from '../../platform/process/transaction-directory.js';
import { checkGit } from './check-git.js';
import { askLayers, type OverlayMount } from './overlay-mount.js';
import { type OverlaySetup, rootsRefused } from './overlay-setup.js';
import { reportChanges } from './report-changes.js';
import {
  ChangedMeanwhile,
  type Refusal,
  type ScannedChanges,
  type ScannedRoot,
  type ScanOptions,
  scanChanges,
} from './scan-changes.js';
import { commitPlan, isUnfinished } from './sweep-transactions.js';
import type { PlannedChange, TransactionPlan } from './transaction-plan.js';

export interface CommitRequest extends Pick<CommandRequest, 'tool' | 'keepVersion' | 'agree'> {
  readonly exitCode: number | null;
  readonly forbids?: ForbidsChange;
}

/** What is kept apart, and by which rules it becomes real. */
export interface TransactionParts {
  readonly confinement: Confinement;
  readonly rules: TransactionRules;
  readonly setup: OverlaySetup;
  readonly directory: string;
  readonly mounts: readonly OverlayMount[];
  /** Of the roots when the layers were made. */
  readonly identities: readonly RootIdentity[];
  /** The roots cannot have been changed before this without the command seeing it. */
  readonly begunNs: bigint;
  /** Resolves when the overlays are unmounted: only then is all on the disk that was written. Left out: they are. */
  readonly unmounted?: () => Promise<void>;
}

/** Tells one directory from another that takes its name. */
export type RootIdentity = Pick<BinaryEntry, 'dev' | 'ino'> | undefined;

export function rootIdentity(root: string): RootIdentity {
  const entry = binaryEntry(toBinary(root));
  return entry === undefined ? undefined : { dev: entry.dev, ino: entry.ino };
}

/** A root is not what it was when the layers were made. */
export class RootReplaced extends Error {}

/** @throws RootReplaced where its changes would be made elsewhere */
function requireSameRoots({ mounts, identities }: Pick<TransactionParts, 'mounts' | 'identities'>): void {
  const roots = mounts.map(({ root }) => root);
  const replaced = roots.find((root, index) => {
    const [now, before] = [rootIdentity(root), identities[index]];
    return now === undefined || now.ino !== before?.ino || now.dev !== before.dev;
  });
  if (replaced !== undefined)
    throw new RootReplaced(`"${replaced}" was moved, or something else was put there`);
  const refused = rootsRefused(roots);
  if (refused !== undefined) throw new RootReplaced(refused);
}

/** Makes real what may be, and says what was changed and what was not. */
export async function commitTransaction(
  parts: TransactionParts,
  request: CommitRequest,
): Promise<CommandChanges> {
  const scanned = await scanTransaction(parts, refusalBy(parts.rules, request.tool, request.forbids));
  if (request.agree !== undefined && scanned.changes.length > 0) {
    const refusal = await request.agree(lookAt(parts, scanned, SHOWN));
    if (refusal !== undefined) throw new ChangesRefused(refusal);
  }
  return applyScanned(parts, scanned, request);
}

/** The person does not agree to what was changed. The message: why. */
export class ChangesRefused extends Error {}

/** Files whose content is shown, and bytes of each. */
const SHOWN = { files: 100, bytes: 1024 * 1024 } as const;

/** What was found, with the contents. @param most files whose content is given, and bytes of each */
export function lookAt(
  { confinement, mounts }: Pick<TransactionParts, 'confinement' | 'mounts'>,
  { changes, leftOut }: ScannedChanges,
  most: { readonly files: number; readonly bytes: number },
): PreviewedChanges {
  const roots = mounts.map(({ root }) => root);
  const report = (part: ScannedChanges): CommandChanges =>
    reportChanges({ ...part, roots, first: confinement.roots[0] ?? '', failed: [], keepVersion: undefined });
  const contentOf = (change: PlannedChange): ChangedContent => {
    const { created, modified, deleted } = report({ changes: [change], leftOut: [] });
    const lower = `${toBinary(roots[change.root] ?? '')}/${change.path}`;
    return {
      path: [...created, ...modified, ...deleted][0] ?? '',
      before: change.change === 'create' ? undefined : contentAt(lower, most.bytes),
      after: change.from === undefined ? undefined : contentAt(change.from, most.bytes),
    };
  };
  const files = changes.filter(({ kind }) => kind !== 'dir').slice(0, most.files);
  return { changes: report({ changes, leftOut }), contents: files.map(contentOf) };
}

function contentAt(path: BinaryPath, mostBytes: number): Uint8Array | 'large' | undefined {
  const entry = binaryEntry(path);
  if (entry?.kind !== 'file') return undefined;
  return entry.size > mostBytes ? 'large' : readBinaryFile(path);
}

/** The same with what was found before. */
export async function applyScanned(
  parts: TransactionParts,
  { changes, leftOut }: ScannedChanges,
  request: Omit<CommitRequest, 'tool'>,
): Promise<CommandChanges> {
  const { confinement, directory, mounts } = parts;
  const roots = mounts.map(({ root }) => root);
  if (changes.length > 0) await parts.unmounted?.();
  await stripAttributes(
    OVERLAY_ATTRIBUTES,
    changes.flatMap(({ kind, from }) => (kind === 'file' && from !== undefined ? [from] : [])),
  );
  const inodes = parts.identities.map((identity) => identity?.ino ?? '');
  const plan: TransactionPlan = { version: 1, roots, inodes, exitCode: request.exitCode, changes };
  const { failed } = changes.length === 0 ? { failed: [] } : await commitPlan(directory, plan);
  const report = reportChanges({
    roots,
    first: confinement.roots[0] ?? '',
    changes,
    failed,
    leftOut,
    keepVersion: request.keepVersion,
  });
  if (changes.length === 0) void removeLater(directory);
  else if (!isUnfinished(directory))
    for (const index of mounts.keys()) void removeLater(`${directory}/${index}`);
  return report;
}

/** What an overlay notes for itself, and what a command has set that is called the same. */
const OVERLAY_ATTRIBUTES = 'user.overlay.';

const MOST_SCANS = 3;

/** What was changed, and what of it cannot be made real. */
export async function scanTransaction(
  parts: TransactionParts,
  refusal: ScanOptions['refusal'],
): Promise<ScannedChanges> {
  for (let round = 1; ; round++) {
    requireSameRoots(parts);
    try {
      return await scan(parts, refusal);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || round === MOST_SCANS) throw error;
    }
  }
}

function scan(
  { rules, setup, mounts, directory, begunNs }: TransactionParts,
  refusal: ScanOptions['refusal'],
): Promise<ScannedChanges> {
  const roots = mounts.map(({ root, upper }, index) => ({
    index,
    lower: toBinary(root),
    upper: toBinary(upper),
  }));
  const device = binaryEntry(toBinary(directory))?.dev;
  return scanChanges(roots, {
    begunNs,
    refusal,
    isHidden: (root, path) => rules.isHidden(absolute(roots[root], path)),
    mayMoveTrees: roots.every(({ lower }) => binaryEntry(lower)?.dev === device),
    stillSeen: (witnesses) =>
      askLayers(
        setup.programs,
        mounts,
        witnesses.map(({ root, path }) => ({ mount: root, path })),
      ),
  });
}

/** @param tool whose command has changed it. @param forbids what its call may not have changed */
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
    return reason === undefined ? byPattern(root, path, change, entry) : { reason };
  };
}

function isNewDirectory(root: ScannedRoot, path: BinaryPath, entry: BinaryEntry | undefined): boolean {
  return entry?.kind === 'dir' && binaryEntry(`${root.lower}/${path}`) === undefined;
}

/** What holds for file tools too. */
export function refusalByPattern(rules: TransactionRules): ScanOptions['refusal'] {
  const ways = rules.ways?.() ?? new Set();
  return (root, path, change, entry) => {
    if (
      ways.size > 0 &&
      ways.has(absolute(root, path).toLowerCase()) &&
      leadsElsewhere(root, path, change, entry)
    )
      return LEADS_TO_OWN;
    return refusalOf(rules, root, path, change, entry);
  };
}

const LEADS_TO_OWN: Refusal = {
  reason: "it leads to toolexec's own files, and commands may not change that",
};

/** Of an entry on the way to ours: directories come and go, as long as each of them is one. */
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

/** More freely for git's own files. */
function refusalOf(
  rules: TransactionRules,
  root: ScannedRoot,
  path: BinaryPath,
  change: 'write' | 'delete',
  entry: BinaryEntry | undefined,
): Refusal | undefined {
  const at = absolute(root, path);
  const slash = /(^|\/)\.git(\/|$)/.exec(path);
  const git =
    slash === null ? undefined : absolute(root, path.slice(0, slash.index + (slash[1] ?? '').length + 4));
  if (git !== undefined && !rules.isHidden(git) && rules.refusal(git, 'write') !== undefined) {
    const answer = checkGit(root, path, change, entry);
    if (answer === 'silent') return 'silent';
    if (answer !== undefined) return answer === 'fine' ? undefined : { reason: answer.refused };
  }
  const reason = rules.refusal(at, change, change === 'write' && entry?.kind === 'link');
  return reason === undefined ? undefined : { reason };
}

/** As text. */
export function absolute(root: ScannedRoot | undefined, path: BinaryPath): string {
  return `${toText(root?.lower ?? '')}/${toText(path)}`;
}
