import type { CommandRequest, Confinement } from '../contract/processes.js';
import { idleClock } from '../platform/clock/clock.js';
import { type BinaryEntry, binaryEntry, toBinary } from '../platform/fs/binary-fs.js';
import { removeTree } from '../platform/fs/remove-tree.js';
import { readProcess } from '../platform/process/proc-table.js';
import type { StartedProcess } from '../platform/process/spawn.js';
import type { ProcessAhead } from '../platform/process/spawn-server.js';
import { startAhead } from '../platform/process/start-process.js';
import { removeLater } from '../platform/process/transaction-directory.js';
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

/*
 * A sandbox that was built before its command is known, while the model thinks: overlays are mounted, bubblewrap has made
 * its mounts, and the shell that reports waits for one line. Starting a command is then a word and an `exec`.
 *
 * It is used once. The kernel keeps what it has looked up in an overlay, and does not see what others change below it: a
 * file that grew between two commands was copied short in one that had been looked into. In a mount that nothing has
 * looked into yet there is nothing to be out of date but the root itself, what is hidden, and what was mounted beside: all
 * are compared.
 */

/** What a sandbox is built for, apart from the roots. */
export interface Pattern {
  readonly request: Pick<CommandRequest, 'shell' | 'env' | 'limits' | 'conversation'>;
  /** Of the conversation whose commands it is for. */
  readonly room: Room | undefined;
  readonly bubblewrap: Bubblewrap;
  readonly shellFile: string;
}

/** What was built, for the command that takes it. */
export interface BuiltAhead {
  readonly transaction: Transaction;
  readonly entry: CommandEntry;
  /** Undefined where it can be told no more: nothing has run. */
  begin(order: string): StartedProcess | undefined;
  /** In place of `begin`. */
  leave(): void;
}

/** The newest comes last; at most one for the commands of a conversation. */
let waiting: readonly PrewarmedSandbox[] = [];
/** Whose first command has come to its end: a program that runs one command builds nothing ahead. */
const begun = new WeakSet<Confinement>();
/** Whose commands have come to their end. */
const ended = new WeakSet<Confinement>();

/** What waits for such a command: its mark is the command's from now on. */
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
 * To be called when a command has ended: builds what the next one of the same confinement needs.
 * @param isUnchanged it has changed nothing: what was found in the roots for it still holds
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

/** To be called when no more commands come. Resolves when nothing is left of what was built ahead. */
export async function endPrewarmed(confinement: Confinement): Promise<void> {
  ended.add(confinement);
  const found = waiting.filter((each) => each.confinement === confinement);
  waiting = waiting.filter((each) => each.confinement !== confinement);
  await Promise.all(found.map((each) => each.drop()));
  await viewsEnded();
}

/** So long after a change a directory may change again without its time telling. */
const SETTLED_MS = 60;
/** Each is three processes; a program with many executors runs commands in few of them at a time. */
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

  /** Undefined where it could not be built, or what it was built on has changed: then nothing is left of it. */
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
      const unmounted = async (): Promise<void> => void (await ahead.ended);
      const transaction = toTransaction(survey, layers, {
        unmounted,
        onEnded: (isUnchanged) => prewarm(this.#pattern, survey, isUnchanged),
      });
      return { transaction, entry, begin: ahead.begin, leave: () => void ahead.drop() };
    } catch {
      await drop(built);
      return undefined;
    }
  }

  /** Nothing is left of it afterwards, its mark included. */
  async drop(): Promise<void> {
    await this.leave();
    this.mark.close();
  }

  /** The same, but for its mark, which is another's. */
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

  /** @throws Error where it cannot be started */
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
  /** As they were mounted. */
  readonly roots: readonly (BinaryEntry | undefined)[];
  readonly entry: CommandEntry;
  readonly ahead: ProcessAhead;
  /** What was mounted beside the roots, by path. */
  readonly beside: ReadonlyMap<string, string>;
}

function isSame({ layers: { mounts, setup }, roots, ahead, beside }: Built, survey: Survey): boolean {
  const { hidden, committed } = survey;
  return (
    // It may be dead before we are told.
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

/** The paths that bubblewrap mounts something of, by its arguments. */
function mountedFrom(args: readonly string[]): readonly string[] {
  const options = args.slice(args.indexOf('--die-with-parent'), args.indexOf('--chdir'));
  return options.flatMap((option, index) =>
    /^--(?:ro-)?bind(?:-try)?$/.test(option) ? [options[index + 1] ?? ''] : [],
  );
}

function identitiesOf(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.map((path) => [path, identityOf(path)]));
}

/** What is mounted keeps its number: no other file can have it as long as the sandbox waits. */
function identityOf(path: string): string {
  const { dev, ino } = rootIdentity(path) ?? {};
  return `${dev}:${ino}`;
}

async function drop({ layers, entry, ahead }: Built): Promise<void> {
  entry.close();
  layers.release();
  await ahead.drop();
  await removeLater(layers.directory);
  unused.delete(layers.directory);
}

/** Directories that no command has used, and none will where this process ends now. */
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
