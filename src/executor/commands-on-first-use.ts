import { onFirstUse } from '../base/on-first-use.js';
import { GUARD_INCOMPLETE, guardIncomplete } from '../commands/sandbox/guard-incomplete.js';
import type { Sandbox } from '../contract/files.js';
import type {
  BackgroundShells,
  CommandLimits,
  CommandRequest,
  Confinement,
  RunCommand,
  TransactionRules,
} from '../contract/processes.js';
import type { RunProgram } from '../contract/programs.js';
import type { ContainedSearch } from '../contract/search.js';
import { systemClock } from '../platform/clock/clock.js';
import type { FileView } from '../platform/fs/open-handle.js';
import { looksLikePlaceholder } from '../platform/process/looks-like-placeholder.js';
import type { AnalyzeCommand } from '../policy/shell/analysis.js';
import type {
  CommandGuard,
  CommandSandboxVerdict,
  ExecutorSettings,
  PreviewWorld,
  StandingSandbox,
} from './call/settings.js';

/*
 * Modules that only commands need are loaded with the first command: the analysis of command lines, and
 * everything that starts and ends processes, including searches.
 */

/** The parts that all commands of an executor share. */
export interface CommandContext {
  readonly confinement: Confinement;
  readonly limits: CommandLimits;
}

export interface LazyAnalysis {
  readonly analyze: AnalyzeCommand;
  /** Must be awaited before anything is analyzed; undefined if it is loaded already. */
  load(): Promise<void> | undefined;
}

export function lazyAnalysis(): LazyAnalysis {
  let loaded: AnalyzeCommand | undefined;
  return {
    analyze(text, shell) {
      // If the analysis is used too early, it throws, and the policy lets nothing through.
      if (loaded === undefined) throw new Error('commands cannot be analysed before the analysis is loaded');
      return loaded(text, shell);
    },
    load() {
      if (loaded !== undefined) return undefined;
      return import('../policy/shell/analyze-once.js').then(({ analyzeOnce }) => {
        loaded = analyzeOnce;
      });
    },
  };
}

/** @param isForgotten whether the changes cannot be undone after closing, because nothing records them. */
export function lazyCommands(
  around: CommandContext,
  isForgotten: boolean,
): {
  readonly run: RunCommand;
  readonly runProgram: RunProgram;
  readonly close: () => Promise<void>;
} {
  let release: (() => Promise<void>) | undefined;
  const end = async (): Promise<void> => {
    if (release === undefined) return;
    const { endPrewarmed } = await import('../commands/prewarmed-sandbox.js');
    await endPrewarmed(around.confinement);
    await release();
  };
  const useHelpers = async (): Promise<void> => {
    const { useCommandHelpers } = await import('../commands/supervise-command.js');
    release ??= useCommandHelpers();
  };
  const run = onFirstUse(async () => {
    const { runCommand } = await import('../commands/run-command.js');
    await useHelpers();
    return runCommand;
  });
  const runProgram = onFirstUse(async () => {
    const programs = await import('../commands/run-program.js');
    await useHelpers();
    return programs.runProgram;
  });
  if (!isForgotten) return { run: (request) => run({ ...request, ...around }), runProgram, close: end };
  const kept = new Set<string>();
  type Tell = NonNullable<CommandRequest['onTransaction']>;
  const keeping =
    (tell: Tell | undefined): Tell =>
    (event) => {
      if (event.state === 'committed') kept.add(event.directory);
      tell?.(event);
    };
  return {
    run: (request) => run({ ...request, ...around, onTransaction: keeping(request.onTransaction) }),
    runProgram: (request) => runProgram({ ...request, onTransaction: keeping(request.onTransaction) }),
    async close() {
      await end();
      if (kept.size === 0) return;
      const { forgetTransactions } = await import('../commands/transaction/sweep-transactions.js');
      forgetTransactions(kept);
    },
  };
}

export interface PreviewContext extends CommandContext {
  readonly rules: TransactionRules;
  /** The roots as seen by a process. */
  readonly seenFrom: (view: FileView) => Sandbox;
}

/** Overlays for previews. Previews that are neither committed nor discarded are discarded at the end. */
export function lazyPreviews({ confinement, limits, rules, seenFrom }: PreviewContext): {
  readonly open: () => Promise<PreviewWorld>;
  readonly close: () => Promise<void>;
} {
  const opened = new Set<PreviewWorld>();
  return {
    async open() {
      const { openPreview } = await import('../commands/open-preview.js');
      const { layers, run, runProgram } = await openPreview(confinement, limits, rules);
      const sandbox = seenFrom(layers.view);
      const world: PreviewWorld = {
        sandbox,
        search: lazySearch(sandbox),
        runCommand: run,
        runProgram,
        directory: layers.directory,
        root: confinement.roots[0] ?? '',
        fileToolEnded: () => layers.fileToolEnded(),
        look: () => layers.look(),
        async commit(begin) {
          opened.delete(world);
          return layers.commit(begin);
        },
        async discard() {
          opened.delete(world);
          return layers.discard();
        },
      };
      opened.add(world);
      return world;
    },
    async close() {
      await Promise.all([...opened].map((world) => world.discard()));
    },
  };
}

/** Whether commands can run in transactions on this machine and in these roots. */
export async function canKeepApart(confinement: Confinement): Promise<boolean> {
  const { transactions } = confinement;
  if (transactions === undefined) return false;
  const { openLayers } = await import('../commands/transaction/open-layers.js');
  const layers = await openLayers(confinement, transactions);
  if ('reason' in layers) return false;
  layers.drop();
  return true;
}

/** Background shells. Nothing is loaded before the first one is started. */
export function lazyShells(around: CommandContext): BackgroundShells {
  let opened: BackgroundShells | undefined;
  return {
    async start(request) {
      if (opened === undefined) {
        const { openBackgroundShells } = await import('../commands/shell-manager.js');
        opened ??= openBackgroundShells();
      }
      return opened.start({ ...request, ...around });
    },
    find: (id) => opened?.find(id),
    read: (id, options) => opened?.read(id, options),
    kill: async (id) => opened?.kill(id),
    close: async () => opened?.close(),
  };
}

/** @returns undefined if no port can be exposed, because the network is on or the option is off */
export function lazyPorts(
  { os, network, rooms }: Confinement,
  exposePorts: boolean,
): ExecutorSettings['exposePort'] {
  if (!exposePorts || network || os === 'off' || rooms === undefined) return undefined;
  return async (conversation, port) => {
    const { exposePort } = await import('../commands/expose-port.js');
    return exposePort(rooms, conversation, port);
  };
}

/** Searches start ripgrep. */
export function lazySearch(sandbox: Sandbox): ContainedSearch {
  const load = async (): Promise<ContainedSearch> =>
    (await import('../search/create-search.js')).createSearch(sandbox);
  return {
    files: async (request, signal) => (await load()).files(request, signal),
    text: async (request, signal) => (await load()).text(request, signal),
  };
}

/**
 * Compares the requirements on the OS sandbox with the abilities of this machine, and with the files that
 * need a guard.
 */
export function createCommandGuard(confinement: Confinement): CommandGuard {
  const { os, roots, guarded } = confinement;
  if (os === 'off') {
    return {
      isRequired: false,
      known: () => FINE,
      look: async () => FINE,
      standing: () => NO_SANDBOX,
      lookAround: async () => NO_SANDBOX,
    };
  }
  sweepPlaceholders(roots);
  const isIncomplete = createBriefMemo(() => guarded().incomplete);
  // A transaction can hide any number of files.
  const isTooLarge = createBriefMemo(() => guarded('every').incomplete);
  let verdict: CommandSandboxVerdict | undefined;
  let looking: Promise<CommandSandboxVerdict> | undefined;
  async function complete(found: CommandSandboxVerdict, isThrough: boolean): Promise<CommandSandboxVerdict> {
    if (found.kind !== 'fine') return found;
    await confinement.readAhead?.();
    if (!isIncomplete()) return found;
    const isApart = !isThrough && !isTooLarge() && (await canKeepApart(confinement));
    return isApart ? FINE : incompleteVerdict(os === 'required' ? 'required' : 'preferred');
  }
  return {
    isRequired: os === 'required',
    known: () => (verdict?.kind === 'fine' && isIncomplete() ? undefined : verdict),
    look(isThrough) {
      looking ??= lookFor(os).then((found) => {
        verdict = found;
        return found;
      });
      return looking.then((found) => complete(found, isThrough));
    },
    ...watchSandbox(confinement, () => !isIncomplete()),
  };
}

const NO_SANDBOX: StandingSandbox = { stands: false, hidesAll: false, transaction: false, network: true };

/** Results are reused for a moment: the command itself checks again when it starts. */
function watchSandbox(
  confinement: Confinement,
  hidesAll: () => boolean,
): Pick<CommandGuard, 'standing' | 'lookAround'> {
  let last: { readonly at: number; readonly found: StandingSandbox } | undefined;
  let overlays: Promise<string | undefined> | undefined;
  /** Whether the next command can have a transaction. A plan creates nothing, so nothing is left behind. */
  async function hasTransactions(): Promise<boolean> {
    const { roots, transactions } = confinement;
    if (transactions === undefined) return false;
    const { whyNoOverlays } = await import('../commands/transaction/overlay-setup.js');
    overlays ??= whyNoOverlays(roots, transactions.places);
    if ((await overlays) !== undefined) return false;
    const { whyNoTransaction } = await import('../commands/transaction/open-layers.js');
    return (await whyNoTransaction(confinement)) === undefined;
  }
  const standing = (): StandingSandbox | undefined =>
    last === undefined || systemClock.monotonic() - last.at > BRIEFLY_MS ? undefined : last.found;
  async function look(): Promise<StandingSandbox> {
    const { findCommandSandbox } = await import('../commands/sandbox/find-sandbox.js');
    const { stands } = await findCommandSandbox();
    const found: StandingSandbox = stands
      ? {
          stands,
          // Searched only if it matters: a transaction can hide any number of files.
          get hidesAll() {
            return hidesAll();
          },
          transaction: await hasTransactions(),
          network: confinement.network,
        }
      : NO_SANDBOX;
    last = { at: systemClock.monotonic(), found };
    return found;
  }
  let looking: Promise<StandingSandbox> | undefined;
  return {
    standing,
    async lookAround() {
      const known = standing();
      if (known !== undefined) return known;
      // The calls of a batch share one check.
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
  };
}

/** The command checks again when it starts, so planning need not check each time. */
function createBriefMemo(look: () => boolean): () => boolean {
  let last: { readonly at: number; readonly found: boolean } | undefined;
  return () => {
    const now = systemClock.monotonic();
    if (last === undefined || now - last.at > BRIEFLY_MS) last = { at: now, found: look() };
    return last.found;
  };
}

const BRIEFLY_MS = 500;

function incompleteVerdict(os: 'preferred' | 'required'): CommandSandboxVerdict {
  if (os === 'required') return { kind: 'refuse', error: guardIncomplete() };
  return { kind: 'ask', reason: `the command would see files that deny patterns hide: ${GUARD_INCOMPLETE}` };
}

/** Removes placeholders for repositories that a killed program has left, before the first command. */
function sweepPlaceholders(roots: readonly string[]): void {
  const left = roots.map((root) => `${root}/.git`).filter(looksLikePlaceholder);
  if (left.length === 0) return;
  void import('../commands/sandbox/git/adopt-repository.js').then(({ sweepPlaceholders: sweep }) =>
    sweep(left),
  );
}

const FINE: CommandSandboxVerdict = { kind: 'fine' };

async function lookFor(os: 'preferred' | 'required'): Promise<CommandSandboxVerdict> {
  const { findCommandSandbox } = await import('../commands/sandbox/find-sandbox.js');
  const sandbox = await findCommandSandbox();
  if (sandbox.stands) return FINE;
  if (os === 'preferred') {
    return { kind: 'ask', reason: `the command would have no OS sandbox: ${sandbox.reason}` };
  }
  const { sandboxRequired } = await import('../commands/sandbox/find-sandbox.js');
  return { kind: 'refuse', error: sandboxRequired(sandbox) };
}
