import type { CommandRequest, Confinement } from '../contract/processes.js';
import { idleClock } from '../platform/clock/clock.js';
import { type BinaryEntry, binaryEntry, toBinary } from '../platform/fs/binary-fs.js';
import { removeTree } from '../platform/fs/remove-tree.js';
import { readProcess } from '../platform/process/proc-table.js';
import type { StartedProcess } from '../platform/process/spawn.js';
import type { ProcessAhead } from '../platform/process/spawn-server.js';
import { startAhead } from '../platform/process/start-process.js';
import { whenProcessEnds } from '../platform/runtime/environment.js';
import { createCommandMark, markFor } from './command-mark.js';
import { type CommandEntry, openSandbox, type SandboxedCommand } from './sandbox/open-sandbox.js';
import type { Room } from './sandbox/room.js';
import type { Bubblewrap } from './sandbox/sandbox-mounts.js';
import { orderFor } from './sandbox/sandbox-program.js';
import { rootIdentity } from './transaction/commit-transaction.js';
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

/** The properties for which a sandbox is built, apart from the roots. */
export interface Pattern {
  readonly request: Pick<CommandRequest, 'shell' | 'env' | 'limits' | 'conversation'>;
  /** The room of the conversation that it is for. */
  readonly room: Room | undefined;
  readonly bubblewrap: Bubblewrap;
  readonly shellFile: string;
}

/** A sandbox that a command has taken. */
export interface BuiltAhead {
  readonly transaction: Transaction;
  readonly entry: CommandEntry;
  /** Undefined if it no longer accepts a command; then nothing has run. */
  begin(order: string): StartedProcess | undefined;
  /** Call it instead of `begin`. */
  leave(): void;
}

/** The newest is last; at most one for each conversation. */
let waiting: readonly PrewarmedSandbox[] = [];
/**
 * Confinements whose first command has ended. For a program that runs only one command, no sandbox is built
 * ahead.
 */
const begun = new WeakSet<Confinement>();
/** Confinements that start no more commands. */
const ended = new WeakSet<Confinement>();

/** The waiting sandbox that fits the command. Its mark becomes the command's. */
export function takePrewarmed(
  confinement: Confinement,
  request: SandboxedCommand['request'] & Pattern['request'],
): PrewarmedSandbox | undefined {
  const found = findWaiting(confinement, request);
  if (found === undefined || !found.isFor(request)) return undefined;
  waiting = waiting.filter((other) => other !== found);
  return found;
}

function findWaiting(
  confinement: Confinement,
  { conversation }: Pick<CommandRequest, 'conversation'>,
): PrewarmedSandbox | undefined {
  return waiting.find((each) => each.confinement === confinement && each.conversation === conversation);
}

/**
 * Call it when a command has ended: builds a sandbox for the next one of the same confinement.
 * @param isUnchanged the command changed nothing, so the survey of the roots is still valid
 */
export function prewarm(pattern: Pattern, survey: Survey, isUnchanged: boolean): void {
  const { confinement } = survey;
  if (ended.has(confinement)) return;
  const isFirst = !begun.has(confinement);
  begun.add(confinement);
  const found = findWaiting(confinement, pattern.request);
  if (isFirst || found?.isFor({ ...pattern.request, cwd: '/', command: '' }) === true) return;
  waiting = [
    ...waiting.filter((other) => other !== found),
    new PrewarmedSandbox(pattern, survey, isUnchanged),
  ];
  const dropped = [...(found === undefined ? [] : [found]), ...waiting.slice(0, -MOST_WAITING)];
  waiting = waiting.slice(-MOST_WAITING);
  for (const each of dropped) void each.drop();
}

/** Call it when no more commands come. Resolves when everything that was built ahead is removed. */
export async function endPrewarmed(confinement: Confinement): Promise<void> {
  ended.add(confinement);
  const found = waiting.filter((each) => each.confinement === confinement);
  waiting = waiting.filter((each) => each.confinement !== confinement);
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
  readonly #pattern: Pattern;
  readonly #survey: Survey;
  readonly #isUnchanged: boolean;
  #cancel: () => void;
  #built: Promise<Built | undefined> | undefined;

  constructor(pattern: Pattern, survey: Survey, isUnchanged: boolean) {
    this.#pattern = pattern;
    this.#survey = survey;
    this.#isUnchanged = isUnchanged;
    this.#cancel = idleClock.after(isUnchanged ? 0 : SETTLED_MS, () => {
      this.#built = this.#build();
      this.#cancel = idleClock.after(KEPT_MS, () => this.#forget());
    });
  }

  get confinement(): Confinement {
    return this.#survey.confinement;
  }

  get conversation(): string | undefined {
    return this.#pattern.request.conversation;
  }

  isFor({ shell, env, limits, cwd, command }: SandboxedCommand['request']): boolean {
    const { request } = this.#pattern;
    return (
      shell === request.shell &&
      (env === request.env || JSON.stringify(env) === JSON.stringify(request.env)) &&
      JSON.stringify(limits) === JSON.stringify(request.limits) &&
      orderFor(cwd, command) !== undefined
    );
  }

  /** Undefined if it could not be built or is outdated; then it is removed completely. */
  async take(survey: Survey, room: Room | undefined): Promise<BuiltAhead | undefined> {
    this.#cancel();
    const built = await this.#built;
    this.#built = undefined;
    if (built === undefined) return undefined;
    try {
      if (room !== this.#pattern.room || !isSame(built, survey)) throw new Error('it has changed');
      for (const { root, upper } of built.layers.mounts) showRootOn(upper, root);
      const { layers, entry, ahead } = built;
      unused.delete(layers.directory);
      const transaction = toTransaction(survey, layers, (isUnchanged) =>
        prewarm(this.#pattern, survey, isUnchanged),
      );
      return { transaction, entry, begin: ahead.begin, leave: () => void ahead.drop() };
    } catch {
      await drop(built);
      return undefined;
    }
  }

  /** Removes everything, including its mark. */
  async drop(): Promise<void> {
    await this.leave();
    this.mark.close();
  }

  /** Removes everything but its mark, which belongs to a command now. */
  async leave(): Promise<void> {
    this.#cancel();
    const built = await this.#built;
    if (built !== undefined) await drop(built);
  }

  #forget(): void {
    if (!waiting.includes(this)) return;
    waiting = waiting.filter((other) => other !== this);
    void this.drop();
  }

  async #build(): Promise<Built | undefined> {
    const { confinement, rules } = this.#survey;
    const survey = this.#isUnchanged ? this.#survey : await surveyRoots(confinement, rules);
    if ('reason' in survey) return undefined;
    const layers = makeLayers(survey);
    if ('reason' in layers) return undefined;
    noteUnused(layers.directory);
    const built = await this.#start(survey, layers).catch(() => undefined);
    if (built === undefined) {
      unused.delete(layers.directory);
      layers.drop();
    } else void built.ahead.ended.then(() => this.#forget());
    return built;
  }

  /** @throws Error if it cannot be started */
  async #start(survey: Survey, layers: Layers): Promise<Built | undefined> {
    const { bubblewrap, shellFile, request, room } = this.#pattern;
    const { confinement } = survey;
    const [cwd = '/'] = survey.roots;
    const roots = layers.mounts.map(({ root }) => binaryEntry(toBinary(root)));
    const entry = openSandbox({
      ...{
        request: { ...request, cwd, command: '' },
        confinement,
        bubblewrap,
        shellFile,
        room,
        isAhead: true,
      },
      layers: mountsOf(layers),
    });
    const beside = identitiesOf(mountedFrom(entry.start.args));
    const { env } = entry;
    const inherit = this.mark.file === undefined ? {} : { inherit: this.mark.file.fd };
    const start = { ...entry.start, cwd, env, mark: markFor(env, this.mark), ...inherit };
    const ahead = await startAhead(start).catch(() => undefined);
    if (ahead !== undefined) return { layers, roots, entry, ahead, beside };
    entry.close();
    return undefined;
  }
}

interface Built {
  readonly layers: Layers;
  /** Their state when they were mounted. */
  readonly roots: readonly (BinaryEntry | undefined)[];
  readonly entry: CommandEntry;
  readonly ahead: ProcessAhead;
  /** The other mounted files, by path. */
  readonly beside: ReadonlyMap<string, string>;
}

function isSame({ layers: { mounts, setup }, roots, ahead, beside }: Built, survey: Survey): boolean {
  const { hidden, committed } = survey;
  return (
    // It may be dead before its end is reported.
    readProcess(ahead.pid)?.alive === true &&
    setup === survey.setup &&
    mounts.every(({ root, masks }, index) => {
      const [now, before] = [binaryEntry(toBinary(root)), roots[index]];
      const isSameRoot = now?.ino === before?.ino && now?.dev === before?.dev && now?.mode === before?.mode;
      return isSameRoot && areMasksFor(setup, root, masks, hidden, committed);
    }) &&
    [...beside].every(([path, identity]) => identityOf(path) === identity)
  );
}

/** The source paths of bubblewrap's mounts, from its arguments. */
function mountedFrom(args: readonly string[]): readonly string[] {
  const options = args.slice(args.indexOf('--die-with-parent'), args.indexOf('--chdir'));
  return options.flatMap((option, index) =>
    /^--(?:ro-)?bind(?:-try)?$/.test(option) ? [options[index + 1] ?? ''] : [],
  );
}

function identitiesOf(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.map((path) => [path, identityOf(path)]));
}

/** A mounted file keeps its inode number, so no other file can get that number while the sandbox waits. */
function identityOf(path: string): string {
  const { dev, ino } = rootIdentity(path) ?? {};
  return `${dev}:${ino}`;
}

async function drop({ layers, entry, ahead }: Built): Promise<void> {
  entry.close();
  layers.release();
  await ahead.drop();
  await removeLayersLater(layers.mounts, layers.directory);
  unused.delete(layers.directory);
}

/** Directories of sandboxes that no command has used. They are removed if this process ends now. */
const unused = new Set<string>();
let isNoted = false;

function noteUnused(directory: string): void {
  if (!isNoted) whenProcessEnds(removeUnused);
  isNoted = true;
  unused.add(directory);
}

function removeUnused(): void {
  for (const directory of unused) removeTree(directory);
}
