import type { JsonObject } from '../contract/json.js';
import { OUTPUT_LIMITS } from '../contract/output-limits.js';
import type {
  CommandOutcome,
  CommandSandbox,
  KeptOutput,
  LimitHit,
  SandboxRefusal,
  ShellSnapshot,
} from '../contract/processes.js';
import type { ProbeContext, ToolOutput } from '../contract/tool.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { isToolError, ToolError } from '../errors/tool-error.js';
import { changeNotices, changesMetadata } from './command-changes.js';
import { cutBytes } from './output-text.js';

const { metadataBytes: METADATA_BYTES } = OUTPUT_LIMITS;

/** For the description of a tool that runs commands. */
export const WHAT_LASTS =
  'In the OS sandbox only files in the working directory and the other roots last: /tmp and the home directory ' +
  'are empty for each command, and discarded at its end.';

/** The output of a command. Standard error follows a line `[stderr]`. */
export function printedText(stdout: string, stderr: string): string {
  if (stderr === '') return stdout;
  return stdout === '' ? `[stderr]\n${stderr}` : `${stdout}\n\n[stderr]\n${stderr}`;
}

/** The text of one stream. A note with the number replaces omitted bytes. */
export function streamText(kept: KeptOutput): string {
  if (kept.binary) return binaryNotice(kept.totalBytes);
  if (kept.omittedBytes === 0) return kept.head + kept.tail;
  return `${kept.head}\n... [${kept.omittedBytes} bytes left out] ...\n${kept.tail}`;
}

/** Replaces binary output, which a model could not use. */
export function binaryNotice(bytes: number): string {
  return `[binary output: ${bytes} bytes, not shown]\n`;
}

/** The metadata of a finished command. */
export function commandMetadata(outcome: CommandOutcome, workingDir: string): JsonObject {
  return {
    exit_code: outcome.exitCode,
    signal: outcome.signal,
    duration_ms: Math.round(outcome.durationMs),
    working_dir: workingDir,
    stdout: excerpt(outcome.stdout),
    stderr: excerpt(outcome.stderr),
    stdout_bytes: outcome.stdout.totalBytes,
    stderr_bytes: outcome.stderr.totalBytes,
    ...lineCounts(outcome),
    ...(outcome.stdout.binary || outcome.stderr.binary ? { binary: true } : {}),
    ...(outcome.survivors.length > 0 ? { survivors: [...outcome.survivors] } : {}),
    ...sandboxMetadata(outcome),
    ...changesMetadata(outcome.changes, outcome.discardedWrites),
    ...(outcome.reruns === undefined ? {} : { reruns: outcome.reruns }),
  };
}

/** Only if every line was kept: a partial count would mislead. */
function lineCounts({ stdout, stderr }: CommandOutcome): JsonObject {
  return {
    ...(isText(stdout) ? { stdout_lines: countLines(streamText(stdout)) } : {}),
    ...(isText(stderr) ? { stderr_lines: countLines(streamText(stderr)) } : {}),
  };
}

function isText({ omittedBytes, binary }: KeptOutput): boolean {
  return omittedBytes === 0 && !binary;
}

export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

function excerpt(kept: KeptOutput): string {
  if (kept.binary) return binaryNotice(kept.totalBytes);
  const whole = kept.head + kept.tail;
  if (kept.omittedBytes === 0 && Buffer.byteLength(whole, 'utf8') <= METADATA_BYTES) return whole;
  return cutBytes(kept.head, METADATA_BYTES / 2, 'start') + GAP + cutBytes(whole, METADATA_BYTES / 2, 'end');
}

const GAP = '\n... [cut] ...\n';

/** Whether a part of the output is missing from the result. */
export function isIncomplete({ stdout, stderr }: CommandOutcome): boolean {
  return !isText(stdout) || !isText(stderr);
}

/** The facts that decide about its failure. */
type EndedCommand = Pick<
  CommandOutcome,
  'aborted' | 'changes' | 'discarded' | 'discardedBy' | 'exitCode' | 'signal' | 'limit' | 'sandbox'
>;

/** Why a command counts as failed; undefined if it exited with code 0. */
export function failureReason(outcome: EndedCommand): string | undefined {
  if (outcome.aborted) return 'stopped before its end';
  if (outcome.discarded !== undefined) return `${outcome.discarded}; none of its changes were kept`;
  if (isPartly(outcome))
    return 'another program changed some of the same files while it ran; the other changes were kept';
  if (outcome.exitCode === 0) return undefined;
  const limit = outcome.limit === undefined ? '' : `: ${describeLimit(outcome.limit)}`;
  if (outcome.sandbox?.lost !== undefined && outcome.exitCode === null) return 'ended by the OS sandbox';
  if (outcome.exitCode !== null) return `exit code ${outcome.exitCode}${limit}`;
  return `ended by signal ${outcome.signal ?? 'unknown'}${limit}`;
}

/** The changes without a conflict were committed, as configured. */
function isPartly({ changes }: EndedCommand): boolean {
  return changes !== undefined && changes.conflicts.length > 0;
}

function codeOf(outcome: EndedCommand): ErrorCode {
  const { discardedBy } = outcome;
  if (discardedBy === undefined) return isPartly(outcome) ? 'conflict' : 'execution_failed';
  return CODES[discardedBy];
}

const CODES: Readonly<Record<NonNullable<CommandOutcome['discardedBy']>, ErrorCode>> = {
  person: 'user_denied',
  unasked: 'approval_unavailable',
  policy: 'policy_denied',
  conflict: 'conflict',
  rules: 'sandbox_violation',
};

/** The failure of a command as a tool's error; undefined if it exited with code 0. */
export function commandError(
  outcome: EndedCommand,
  message: (reason: string) => string,
): ToolOutput['error'] {
  const reason = failureReason(outcome);
  if (reason === undefined) return undefined;
  const hint = sandboxHint(outcome);
  return {
    code: codeOf(outcome),
    message: message(reason),
    ...(hint === undefined ? {} : { hint }),
    ...failureDetails(outcome),
  };
}

function failureDetails({ limit, sandbox }: EndedCommand): { readonly details?: JsonObject } {
  const refused = sandbox?.refused ?? [];
  if (limit === undefined && refused.length === 0) return {};
  return {
    details: {
      ...(limit === undefined ? {} : { limit: limit.limit, max: limit.max }),
      ...(refused.length === 0 ? {} : { refused_by_sandbox: [...refused] }),
    },
  };
}

/**
 * The output, followed by a notice about the command sandbox.
 * @param mostBytes limit of the whole text: a longer output is cut at its end, and the notice comes first
 */
export function withNotice(
  text: string,
  outcome: Pick<
    CommandOutcome,
    'sandbox' | 'changes' | 'discarded' | 'discardedBy' | 'stderr' | 'discardedWrites'
  >,
  mostBytes = Number.POSITIVE_INFINITY,
): string {
  const notice = [sandboxNotice(outcome.sandbox), ...changeNotices(outcome)]
    .filter((line) => line !== '')
    .join('\n');
  if (notice === '') return text;
  if (Buffer.byteLength(text) + Buffer.byteLength(notice) + 3 > mostBytes) return `${notice}\n\n${text}`;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}\n${notice}\n`;
}

/** The sandbox of a command and its refusals, for the metadata. */
export function sandboxMetadata({
  sandbox,
  limit,
}: {
  readonly sandbox?: CommandSandbox;
  readonly limit?: LimitHit;
}): JsonObject {
  const {
    kind,
    network,
    reason,
    refused,
    incomplete,
    unheld,
    lost,
    disarmed,
    transaction,
    transactionReason,
  } = sandbox ?? {};
  return {
    ...(kind === undefined || network === undefined
      ? {}
      : {
          sandbox: {
            kind,
            // The earlier name, kept for one version.
            wall: kind,
            network,
            ...(reason === undefined ? {} : { reason }),
            ...(refused === undefined ? {} : { refused: [...refused] }),
            ...(incomplete === undefined ? {} : { incomplete }),
            ...(unheld === undefined ? {} : { unheld }),
            ...(lost === undefined ? {} : { lost: [...lost] }),
            ...(disarmed === undefined ? {} : { disarmed: [...disarmed] }),
            transaction: transaction === true,
            ...(transactionReason === undefined ? {} : { transaction_reason: transactionReason }),
          },
        }),
    ...(limit === undefined ? {} : { limit: { limit: limit.limit, max: limit.max } }),
  };
}

/** Tells the model that the sandbox caused the failure, not the command. Empty if there is nothing to say. */
export function sandboxNotice(sandbox: CommandSandbox | undefined): string {
  const refused = (sandbox?.refused ?? []).map((what) => REFUSED[what]);
  return [
    ...(refused.length === 0 ? [] : [`[The OS sandbox refused this command ${refused.join('; ')}.]`]),
    ...(sandbox?.incomplete === true ? [INCOMPLETE] : []),
    ...(sandbox?.lost === undefined ? [] : [lostNotice(sandbox.lost)]),
    ...(sandbox?.disarmed === undefined ? [] : [disarmedNotice(sandbox.disarmed)]),
  ].join('\n');
}

function lostNotice(paths: readonly string[]): string {
  return `[Another program replaced, removed or linked ${listed(paths)} while this command ran, and the OS sandbox guards only files that existed at its start, so the command was ended. Run it again.]`;
}

function disarmedNotice(paths: readonly string[]): string {
  return `[Git would run programs of repositories that appeared while this command ran: hooks, or settings that are not known to be harmless, are now called "….disabled" in ${listed(paths)}.]`;
}

function listed(paths: readonly string[]): string {
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `${paths
    .slice(0, 5)
    .map((path) => JSON.stringify(path))
    .join(', ')}${more}`;
}

const INCOMPLETE =
  '[The roots contain more files than the OS sandbox can guard: this command could see files that deny patterns hide.]';

const REFUSED: Readonly<Record<SandboxRefusal, string>> = {
  network: 'a network connection: it has no network, only a loopback that its conversation shares',
  name_lookup: 'a name look-up: it has no network',
  write_outside:
    'a write: it may write in the roots and in /tmp, not elsewhere, and not files that make other programs run something (.git/hooks, .git/config and the like)',
  hidden_file:
    'a file: files that deny patterns hide (.env, *.pem, .npmrc and the like) and files outside the roots do not exist for commands (a hidden file that git tracks has its committed version); commands can neither replace nor remove them, and every command finds /tmp empty',
};

/** The limit that a command reached, for the model. */
export function describeLimit({ limit, max }: LimitHit): string {
  return `it has hit the limit of ${max} ${LIMITS[limit].what}; use less`;
}

/** How the developer can change a setting that stopped a command; undefined if none did. */
function sandboxHint({ sandbox, limit }: Pick<CommandOutcome, 'sandbox' | 'limit'>): string | undefined {
  const remedies = [
    ...(limit === undefined ? [] : [`The limit is ${LIMITS[limit.limit].option}.`]),
    ...(needsNetwork(sandbox) ? ['The network is off: set sandbox.network to true.'] : []),
  ];
  return remedies.length === 0 ? undefined : remedies.join(' ');
}

function needsNetwork(sandbox: CommandSandbox | undefined): boolean {
  return sandbox?.refused?.some((what) => what === 'network' || what === 'name_lookup') === true;
}

const LIMITS: Readonly<Record<LimitHit['limit'], { readonly what: string; readonly option: string }>> = {
  cpuSeconds: { what: 'seconds of processor time for a process', option: 'commandLimits.cpuSeconds' },
  memoryMb: { what: 'MB of memory for a process', option: 'commandLimits.memoryMb' },
  processes: { what: 'processes at a time', option: 'commandLimits.processes' },
  fileSizeMb: { what: 'MB for a file', option: 'commandLimits.fileSizeMb' },
  transactionMb: { what: 'MB that a command may change', option: 'sandbox.maxTransactionMb' },
};

/** The metadata of a background shell. */
export function shellMetadata(shell: ShellSnapshot): JsonObject {
  return {
    command: shell.command,
    status: shell.status,
    is_running: shell.isRunning,
    done: !shell.isRunning,
    exit_code: shell.exitCode,
    signal: shell.signal,
    duration_ms: Math.round(shell.durationMs),
    working_dir: shell.cwd,
    ...(shell.survivors.length > 0 ? { survivors: [...shell.survivors] } : {}),
    ...sandboxMetadata(shell),
  };
}

/** B024, B030. */
export function shellNotFound(id: string): ToolOutput {
  const message = `Shell not found: ${id}. It never existed, or it ended long ago; bash with run_in_background starts one.`;
  return { text: '', error: { code: 'execution_failed', message } };
}

/** For a command that is the only effect of its call: if it could not be started, nothing was executed. */
export async function started<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    if (!isToolError(error) || error.code !== 'spawn_failed') throw error;
    const { code, message, details, cause } = error;
    throw new ToolError(code, message, { details: { ...details, executed: 'no' }, cause });
  }
}

/**
 * For tools that only run one command: after a crash, `applied` if the record contains its end. Without a
 * recorded process none was started, because that is recorded first.
 */
export function probeCommand(_args: unknown, { notes }: ProbeContext): 'applied' | 'not_applied' | 'unknown' {
  const transaction = notes.findLast(
    ({ kind, transaction }) => kind === 'process' && typeof transaction === 'string',
  );
  if (transaction?.state === 'committed') return 'applied';
  // With the network it may have had effects beyond files.
  if (transaction?.state === 'discarded') return transaction.network === false ? 'not_applied' : 'unknown';
  if (!notes.some(({ kind, preparing }) => kind === 'process' && preparing !== true)) return 'not_applied';
  const hasEnded = notes.some(({ kind, exitCode }) => kind === 'process' && typeof exitCode === 'number');
  return hasEnded ? 'applied' : 'unknown';
}
