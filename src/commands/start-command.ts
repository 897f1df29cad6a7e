import type { CommandRequest, CommandSandbox, Confinement, TransactionEvent } from '../contract/processes.js';
import { isToolError, ToolError } from '../errors/tool-error.js';
import { toBinary } from '../platform/fs/binary-fs.js';
import { findShell, isDirectory } from '../platform/process/find-shell.js';
import { findOrphanHolder } from '../platform/process/hold-orphans.js';
import { openReportFile } from '../platform/process/report-file.js';
import type { ProcessEnd, StartedProcess } from '../platform/process/spawn.js';
import { startProcess } from '../platform/process/start-process.js';
import { type CommandMark, markFor } from './command-mark.js';
import { enterRoom, type RoomRequest } from './conversation-rooms.js';
import { holdingProgram, shellsCarry } from './holding-program.js';
import { type BuiltAhead, type PrewarmedSandbox, prewarm } from './prewarmed-sandbox.js';
import { type ChosenSandbox, chooseSandbox } from './sandbox/find-sandbox.js';
import { committedVersions } from './sandbox/git/committed-versions.js';
import { findRepositories } from './sandbox/git/find-repositories.js';
import type { GuardWatch } from './sandbox/guard-mounts.js';
import { limitLines } from './sandbox/limit-lines.js';
import { type CommandEntry, openSandbox } from './sandbox/open-sandbox.js';
import type { OutsidePlaces } from './sandbox/outside-places.js';
import type { Room } from './sandbox/room.js';
import type { NetworkRefusal } from './sandbox/room-ledger.js';
import { endToldBy, orderFor, readReport, type SandboxedEnd } from './sandbox/sandbox-program.js';
import { type NoTransaction, surveyRoots } from './transaction/open-layers.js';
import { openTransaction, type Transaction } from './transaction/open-transaction.js';

export type CommandStart = Pick<
  CommandRequest,
  | 'shell'
  | 'command'
  | 'cwd'
  | 'env'
  | 'confinement'
  | 'conversation'
  | 'limits'
  | 'onStarting'
  | 'writesThrough'
  | 'targets'
  | 'attached'
> & {
  /** Its changes are kept apart if its sandbox supports that. */
  readonly isTransaction?: boolean;
  /** It does not run if they cannot be kept apart. */
  readonly isKeptApart?: boolean;
  /** The layers that keep them apart. */
  readonly layers?: Transaction | undefined;
  /** It continues after its call. */
  readonly inBackground?: boolean;
};

export interface StartedCommand {
  readonly process: StartedProcess;
  readonly sandbox: CommandSandbox;
  /** Its changes. If absent: it writes through. */
  readonly transaction?: Transaction;
  /** The end of the command, derived from the end of the started process, which may be another one. */
  read(end: ProcessEnd): SandboxedEnd;
  /** The guards that are watched while the command runs. If absent: none. */
  readonly watch?: GuardWatch;
  /** Its writes outside the roots. If absent: they last, or are not examined. */
  readonly outside?: OutsidePlaces;
  /** How the process ended, once its output is closed; undefined if only the system knows. */
  exitStatus(): ProcessEnd | undefined;
  /** Call it once, when all of its processes have ended. @returns the network refusals */
  leave(): readonly NetworkRefusal[];
  /** Call it when the command has ended. */
  close(): void;
}

/**
 * Starts `sh -c command` or `bash -c command`, inside a sandbox if one is wanted and can be built.
 * @throws ToolError `spawn_failed`, `details`: `{ shell, cwd, errno }`; `sandbox_violation` if a sandbox is
 * required and missing
 */
export async function startCommand(
  request: CommandStart,
  mark: CommandMark,
  prewarmed?: PrewarmedSandbox,
): Promise<StartedCommand> {
  const { shell, confinement } = request;
  const file = findShell(shell, request.env.PATH);
  if (file === undefined) throw spawnFailed(request, 'ENOENT', `there is no ${shell} on this machine`);
  const { sandbox, inside } = await chooseSandbox(confinement);
  // The view of a preview is a separate user namespace, which a process in the room's user namespace cannot
  // enter. An attached command is the only one of its process, so there is no command to share a room with.
  const hasRoom = inside !== undefined && request.layers === undefined && request.attached === undefined;
  const stay = hasRoom ? await enterRoom(roomRequest(request, inside)) : undefined;
  try {
    const started = await startIn(request, mark, { file, sandbox, inside, room: stay?.room }, prewarmed);
    return { ...started, leave: () => stay?.leave() ?? [] };
  } catch (error) {
    stay?.leave();
    throw error;
  }
}

function roomRequest(
  { conversation, inBackground }: CommandStart,
  { confinement, bubblewrap }: Inside,
): RoomRequest {
  return { confinement, conversation, isBackground: inBackground === true, bubblewrap: bubblewrap.file };
}

type Inside = NonNullable<ChosenSandbox['inside']>;

interface ChosenPlace {
  readonly sandbox: CommandSandbox;
  readonly inside: Inside | undefined;
  /** The file of the shell. */
  readonly file: string;
  readonly room: Room | undefined;
}

async function startIn(
  request: CommandStart,
  mark: CommandMark,
  place: ChosenPlace,
  prewarmed: PrewarmedSandbox | undefined,
): Promise<Omit<StartedCommand, 'leave'>> {
  const { cwd, confinement } = request;
  const { sandbox, inside } = place;
  if (inside === undefined && request.isKeptApart === true)
    throw transactionRequired('there is no command sandbox');
  const { ahead, told, ...chosen }: ChosenTransaction =
    inside === undefined ? NO_TRANSACTION : await chooseTransaction(request, place, inside, prewarmed);
  const transaction = ahead?.transaction ?? chosen.transaction;
  const entry = ahead?.entry ?? (await openEntry(request, place, transaction));
  try {
    const inherit = mark.file === undefined ? {} : { inherit: mark.file.fd };
    const { env } = entry;
    for (const target of request.targets ?? []) transaction?.watched?.begun.note(toBinary(target));
    await request.onStarting?.(transaction && begun(transaction, confinement));
    const process =
      ahead === undefined
        ? await startProcess({ ...entry.start, cwd, env, mark: markFor(env, mark), ...inherit })
        : beginAhead(request, ahead);
    return {
      process,
      sandbox: {
        ...{ ...sandbox, ...told },
        ...(entry.incomplete ? { incomplete: true } : {}),
        ...(inside === undefined && entry.start.holdsOrphans !== true ? { unheld: true } : {}),
      },
      ...(transaction === undefined ? {} : { transaction }),
      ...watchOf(entry, transaction),
      ...(entry.outside === undefined ? {} : { outside: entry.outside }),
      read: entry.read,
      exitStatus: entry.exitStatus,
      close() {
        entry.close();
        transaction?.watch?.end();
      },
    };
  } catch (error) {
    void ahead?.ahead.drop();
    entry.close();
    transaction?.release();
    transaction?.discard();
    if (isToolError(error)) throw error;
    const errno = errnoOf(error);
    throw spawnFailed(request, errno, causeInWords(request, errno), error);
  }
}

function watchOf(
  { watch }: CommandEntry,
  transaction: Transaction | undefined,
): Pick<StartedCommand, 'watch'> {
  const watched = transaction === undefined ? watch : transaction.watch;
  return watched === undefined ? {} : { watch: watched };
}

function begun({ directory }: Transaction, confinement: Confinement | undefined): TransactionEvent {
  return { state: 'begun', directory, network: confinement?.network !== false };
}

/** @throws ToolError `spawn_failed`; then nothing has run */
function beginAhead(request: CommandStart, { ahead }: BuiltAhead): StartedProcess {
  const { cwd, command } = request;
  if (!isDirectory(cwd)) throw spawnFailed(request, 'ENOENT', causeInWords(request, 'ENOENT'));
  const process = ahead.begin(orderFor(cwd, command) ?? '');
  if (process === undefined)
    throw spawnFailed(request, 'EPIPE', 'its sandbox was ended from outside; try again');
  return process;
}

interface ChosenTransaction {
  readonly transaction?: Transaction;
  /** A sandbox that was built before the command was known, with its transaction. */
  readonly ahead?: BuiltAhead;
  /** The part of the outcome about the transaction. */
  readonly told: Pick<CommandSandbox, 'transaction' | 'transactionReason'>;
}

const NO_TRANSACTION: ChosenTransaction = { told: {} };

/** @throws ToolError `sandbox_violation` if a transaction is required and not possible */
async function chooseTransaction(
  { isTransaction, isKeptApart, layers, writesThrough, shell, env, limits, conversation }: CommandStart,
  { file: shellFile, room }: ChosenPlace,
  { confinement, bubblewrap }: Inside,
  prewarmed: PrewarmedSandbox | undefined,
): Promise<ChosenTransaction> {
  if (layers !== undefined) return { transaction: layers, told: { transaction: true } };
  const { transactions } = confinement;
  if (transactions === undefined) return NO_TRANSACTION;
  if (isTransaction !== true) return { told: { transaction: false } };
  const isRequired = transactions.mode === 'required' || isKeptApart === true;
  if (writesThrough === true && !isRequired) {
    return { told: { transaction: false, transactionReason: 'the rule that allows it says write_through' } };
  }
  const survey = await surveyRoots(confinement, transactions);
  if ('reason' in survey) return withoutTransaction(survey, isRequired);
  const ahead = await prewarmed?.take(survey, room);
  if (ahead !== undefined) return { ahead, told: { transaction: true } };
  const like = {
    shell,
    env,
    ...(limits && { limits }),
    ...(conversation === undefined ? {} : { conversation }),
  };
  const pattern = { confinement, rules: transactions, request: like, bubblewrap, shellFile, room };
  const transaction = openTransaction(survey, (isUnchanged) => prewarm(pattern, isUnchanged));
  if ('reason' in transaction) return withoutTransaction(transaction, isRequired);
  return { transaction, told: { transaction: true } };
}

function withoutTransaction({ reason }: NoTransaction, isRequired: boolean): ChosenTransaction {
  if (isRequired) throw transactionRequired(reason);
  return { told: { transaction: false, transactionReason: reason } };
}

export function transactionRequired(reason: string): ToolError {
  return new ToolError(
    'sandbox_violation',
    'Cannot run commands here: their changes must be kept apart, and that is not possible. Do without commands.',
    {
      hint: `There is no transaction: ${reason}. With "auto" as sandbox.transactions commands write through.`,
      details: { reason: 'TransactionUnavailable', why: reason },
    },
  );
}

async function openEntry(
  request: CommandStart,
  { file, inside, room }: ChosenPlace,
  layers: Transaction | undefined,
): Promise<CommandEntry> {
  if (inside === undefined) return plainEntry(request, file);
  try {
    const committed = layers === undefined ? await shownBeside(inside) : undefined;
    const isBackground = request.isTransaction !== true;
    return openSandbox({ request, shellFile: file, layers, committed, isBackground, room, ...inside });
  } catch (error) {
    layers?.release();
    layers?.discard();
    throw error;
  }
}

/** The committed versions that a command which writes through sees in place of hidden files. */
function shownBeside({
  bubblewrap,
  confinement,
}: NonNullable<ChosenSandbox['inside']>): ReturnType<typeof committedVersions> {
  const { roots, guarded } = confinement;
  const { hidden, readOnly } = guarded('every');
  return committedVersions(findRepositories(readOnly, roots), hidden, { bubblewrap: bubblewrap.file, roots });
}

/** Starts it without a sandbox. Everything that the command started is ended with it, if the machine supports that. */
function plainEntry(request: CommandStart, file: string): CommandEntry {
  const canHold = findOrphanHolder() !== undefined && shellsCarry(request.env);
  const report = canHold ? openReportFile() : undefined;
  if (report === undefined) {
    return {
      start: plainStart(request, file),
      env: request.env,
      incomplete: false,
      read: (end) => ({ ...end, neverStarted: false, tidied: false }),
      exitStatus: () => undefined,
      close() {},
    };
  }
  const { shell, command, limits = {} } = request;
  const program = holdingProgram(limitLines(limits, false));
  const args = ['-c', program, 'toolexec', file, '-c', command, shell];
  return {
    start: { file: findShell('sh') ?? file, name: 'sh', args, report: report.fd, holdsOrphans: true },
    env: request.env,
    incomplete: false,
    read: (end) => ({ ...readReport(end, report.read()), neverStarted: false }),
    exitStatus: () => endToldBy(report.read()),
    close: () => report.close(),
  };
}

function plainStart({ shell, command, limits = {} }: CommandStart, file: string): CommandEntry['start'] {
  const lines = limitLines(limits, false);
  // The last argument is `$0`.
  if (lines === '') return { file, name: shell, args: ['-c', command, shell] };
  const args = ['-c', `${lines}\nexec "$@"`, 'toolexec', file, '-c', command, shell];
  return { file: findShell('sh') ?? file, name: 'sh', args };
}

function spawnFailed(request: CommandStart, errno: string, why: string, cause?: unknown): ToolError {
  const { shell, cwd } = request;
  return new ToolError('spawn_failed', `Cannot start ${shell} in "${cwd}": ${why} (${errno}).`, {
    details: { shell, cwd, errno },
    // Node's message about a wrong argument quotes it, and the argument may be a variable with a secret.
    ...(cause === undefined || errno === 'EINVAL' ? {} : { cause }),
  });
}

function errnoOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  return code.startsWith('ERR_INVALID_ARG') ? 'EINVAL' : code;
}

function causeInWords({ cwd }: CommandStart, errno: string): string {
  // For a missing directory, the system reports ENOENT and names the shell.
  if (!isDirectory(cwd)) return 'the working directory is not a directory; use one that exists';
  return WHY[errno] ?? 'the system refuses';
}

const WHY: Readonly<Record<string, string>> = {
  E2BIG: 'command and environment together are too long; put the command into a file',
  EACCES: 'the shell may not be executed, or the directory cannot be entered',
  EAGAIN: 'there are too many processes; try again when some have ended',
  EINVAL: 'command, directory and environment must not hold a NUL character',
  EMFILE: 'this process has too many files open; try again when fewer commands run',
  ENFILE: 'the machine has too many files open; try again later',
  ENOMEM: 'there is not enough memory',
};
