import type { CommandRequest, Confinement, TransactionRules } from '../contract/processes.js';
import { idleClock } from '../platform/clock/clock.js';
import { binaryEntry, toBinary } from '../platform/fs/binary-fs.js';
import { readProcess } from '../platform/process/proc-table.js';
import type { ProcessAhead } from '../platform/process/spawn-server.js';
import { startAhead } from '../platform/process/start-process.js';
import { whenProcessEnds } from '../platform/runtime/environment.js';
import { type CommandMark, createCommandMark, markFor } from './command-mark.js';
import { type CommandEntry, openSandbox, type SandboxedCommand } from './sandbox/open-sandbox.js';
import { orderFor } from './sandbox/sandbox-program.js';
import { areMasksFor } from './transaction/held-masks.js';
import { viewsEnded } from './transaction/mounted-view.js';
import { type Layers, makeLayers, type Survey, showRootOn, surveyRoots } from './transaction/open-layers.js';
import { mountsOf, type Transaction, toTransaction } from './transaction/open-transaction.js';
import { removeLayersLater } from './transaction/overlay-mount.js';

/*
 * A sandbox that is built before its command is known, while the model thinks: overlays are mounted,
 * bubblewrap has finished its mounts, and the reporting shell waits for one line. Then starting a command is
 * one write and one `exec`.
 *
 * It is used once. The kernel caches look-ups in an overlay and does not see changes that other programs make
 * in the lower directory: a file that grew between two commands was copied short after an earlier look-up. A
 * fresh mount has no cache; only the root, the hidden paths and the other mounted files may be outdated, and
 * these are compared.
 */

/** The commands for which a sandbox is built. */
export interface Pattern extends Pick<SandboxedCommand, 'confinement' | 'bubblewrap' | 'shellFile' | 'room'> {
  readonly rules: TransactionRules;
  readonly request: Pick<CommandRequest, 'shell' | 'env' | 'limits' | 'conversation'>;
}

/** A sandbox that a command has taken: it sends its order, or drops the process. */
export interface BuiltAhead extends Pick<Built, 'entry' | 'ahead'> {
  readonly transaction: Transaction;
}

/** The newest is last. */
let waiting: readonly PrewarmedSandbox[] = [];
/**
 * `begun`: its first command has ended. For a program that runs only one command, no sandbox is built ahead.
 * `ended`: it starts no more commands.
 */
const stages = new WeakMap<Confinement, 'begun' | 'ended'>();

/** The waiting sandbox that fits the command. Its mark becomes the command's. */
export function takePrewarmed(
  confinement: Confinement,
  { cwd, command, ...request }: Pick<SandboxedCommand['request'], 'cwd' | 'command'> & Pattern['request'],
): PrewarmedSandbox | undefined {
  if (orderFor(cwd, command) === undefined) return undefined;
  const found = waiting.find((each) => each.isFor({ confinement, request }));
  waiting = waiting.filter((other) => other !== found);
  return found;
}

/**
 * Call it when a command has ended: builds a sandbox for the next one like it.
 * @param isUnchanged the command changed nothing, so the roots are examined at once
 */
export function prewarm(pattern: Pattern, isUnchanged: boolean): void {
  const stage = stages.get(pattern.confinement);
  if (stage === undefined) stages.set(pattern.confinement, 'begun');
  if (stage !== 'begun' || waiting.some((each) => each.isFor(pattern))) return;
  waiting = [...waiting, new PrewarmedSandbox(pattern, isUnchanged ? 0 : SETTLED_MS)];
  for (const each of waiting.slice(0, -MOST_WAITING)) void each.drop();
}

/** Call it when no more commands come. Resolves when everything that was built ahead is removed. */
export async function endPrewarmed(confinement: Confinement): Promise<void> {
  stages.set(confinement, 'ended');
  const found = waiting.filter((each) => each.pattern.confinement === confinement);
  await Promise.all(found.map((each) => each.drop()));
  await viewsEnded();
}

/** For this time after a change, another change of a directory may leave its times unchanged. */
const SETTLED_MS = 60;
/** Each is three processes, and a program with many executors runs commands in few of them at a time. */
const MOST_WAITING = 4;
/** A mount keeps a file system from being unmounted. */
const KEPT_MS = 2 * 60 * 1000;

export class PrewarmedSandbox {
  readonly mark = createCommandMark();
  readonly pattern: Pattern;
  #cancel: () => void;
  #built: Promise<Built | undefined> | undefined;

  constructor(pattern: Pattern, pauseMs: number) {
    this.pattern = pattern;
    this.#cancel = idleClock.after(pauseMs, () => {
      this.#built = build(pattern, this.mark);
      this.#cancel = idleClock.after(KEPT_MS, () => void this.drop());
    });
  }

  isFor({ confinement, request }: Pick<Pattern, 'confinement' | 'request'>): boolean {
    return confinement === this.pattern.confinement && kindOf(request) === kindOf(this.pattern.request);
  }

  /** Undefined if it could not be built, is outdated, or cannot be used: its directory is gone, or the disk is full. */
  async take(survey: Survey, room: Pattern['room']): Promise<BuiltAhead | undefined> {
    this.#cancel();
    const built = await this.#built;
    if (built === undefined || room !== this.pattern.room || !isSame(built, survey)) return undefined;
    try {
      for (const { root, upper } of built.layers.mounts) showRootOn(upper, root);
      const transaction = toTransaction(survey, built.layers, (isUnchanged) =>
        prewarm(this.pattern, isUnchanged),
      );
      this.#built = undefined;
      built.leftAtExit();
      return { ...built, transaction };
    } catch {
      return undefined;
    }
  }

  /** Removes everything, including its mark. */
  async drop(): Promise<void> {
    waiting = waiting.filter((other) => other !== this);
    await this.leave();
    this.mark.close();
  }

  /** Removes everything that was not taken, but not its mark, which belongs to a command now. */
  async leave(): Promise<void> {
    this.#cancel();
    const built = await this.#built;
    this.#built = undefined;
    if (built === undefined) return;
    const { layers, entry, ahead } = built;
    entry.close();
    layers.release();
    await ahead.drop();
    await removeLayersLater(layers.mounts, layers.directory);
    built.leftAtExit();
  }
}

function kindOf({ conversation, shell, limits, env }: Pattern['request']): string {
  return JSON.stringify([conversation, shell, limits, env]);
}

interface Built {
  readonly layers: Layers;
  readonly entry: CommandEntry;
  readonly ahead: ProcessAhead;
  /** The identities of the roots and of all other mounted files, by path. */
  readonly mounted: ReadonlyMap<string, string>;
  /** Until this call, the layers are removed if this process ends. */
  readonly leftAtExit: () => void;
}

/** Undefined if it cannot be built: then the next command reports the reason. */
async function build(pattern: Pattern, mark: CommandMark): Promise<Built | undefined> {
  const survey = await surveyRoots(pattern.confinement, pattern.rules);
  const layers = 'reason' in survey ? survey : makeLayers(survey);
  if ('reason' in layers) return undefined;
  const leftAtExit = whenProcessEnds(layers.drop);
  let entry: CommandEntry | undefined;
  try {
    const roots = layers.mounts.map(({ root }) => root);
    const [cwd = '/'] = roots;
    const request = { ...pattern.request, cwd, command: '' };
    entry = openSandbox({ ...pattern, request, isAhead: true, layers: mountsOf(layers) });
    const { start, env } = entry;
    const paths = [...roots, ...mountedFrom(start.args)];
    const mounted = new Map(paths.map((path) => [path, identityOf(path)]));
    const inherit = mark.file === undefined ? {} : { inherit: mark.file.fd };
    const ahead = await startAhead({ ...start, cwd, env, mark: markFor(env, mark), ...inherit });
    if (ahead !== undefined) return { layers, entry, ahead, mounted, leftAtExit };
  } catch {
    // The roots change too fast, or no process can be started.
  }
  entry?.close();
  layers.drop();
  leftAtExit();
  return undefined;
}

function isSame({ layers: { mounts, setup }, ahead, mounted }: Built, survey: Survey): boolean {
  const { hidden, committed } = survey;
  return (
    readProcess(ahead.pid)?.alive === true &&
    setup === survey.setup &&
    mounts.every(({ root, masks }) => areMasksFor(setup, root, masks, hidden, committed)) &&
    [...mounted].every(([path, identity]) => identityOf(path) === identity)
  );
}

/** The source paths of bubblewrap's mounts, from its arguments. */
function mountedFrom(args: readonly string[]): readonly string[] {
  const options = args.slice(args.indexOf('--die-with-parent'), args.indexOf('--chdir'));
  return options.flatMap((option, index) =>
    /^--(?:ro-)?bind(?:-try)?$/.test(option) ? [options[index + 1] ?? ''] : [],
  );
}

/** A mounted file keeps its inode number, so no other file can get that number while the sandbox waits. */
function identityOf(path: string): string {
  const { dev, ino, mode } = binaryEntry(toBinary(path)) ?? {};
  return `${dev}:${ino}:${mode}`;
}
