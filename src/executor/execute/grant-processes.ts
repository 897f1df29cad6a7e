import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { DeedsReview } from '../../contract/changes.js';
import type { JsonObject } from '../../contract/json.js';
import { OUTPUT_LIMITS } from '../../contract/output-limits.js';
import type {
  CommandRequest,
  ShellReading,
  ShellText,
  StartedCommand,
  TransactionEvent,
} from '../../contract/processes.js';
import type { ToolProcesses } from '../../contract/tool-processes.js';
import { grants, grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import { cleanOutput } from '../../output/clean-output.js';
import { stateSource } from '../../provenance/origin-of-call.js';
import { compileLinearPattern, type LinearPattern } from '../../schema/linear-pattern.js';
import { reasonOf } from '../answer/results.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { Lease } from '../call/lease.js';
import { confinementOf } from '../call/program-confinement.js';
import type { ExecutionSettings } from '../call/settings.js';
import { mayStartShell } from '../plan/evaluate-sandbox.js';
import { agreedNames, type LateAgreement } from './agreed-names.js';
import type { CommandTally } from './command-tally.js';
import { forbidsUndeclared, requireProgram, tellProgram } from './grant-programs.js';
import type { LiveOutput } from './live-output.js';
import { cleanOutcome, filterLines, ShellOutput } from './shell-output.js';

export interface ProcessGrant {
  readonly ready: ReadyCall;
  readonly conversation: string;
  readonly settings: ExecutionSettings;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  /** Records a fact about a process. The call does not wait for the record. */
  readonly note: (data: JsonObject) => void;
  /** Records a fact about a process, and resolves when the journal holds it. */
  readonly noted: (data: JsonObject) => Promise<void>;
  readonly tally: CommandTally;
  /** Asks about the changes of a command; undefined: no question is asked. */
  readonly agree: CommandRequest['agree'];
  /** Compares the changes of a command with the changes that the call declared and was allowed. */
  readonly deeds: DeedsReview;
  /** The state of the question about changes; undefined: no question is asked. */
  readonly late: LateAgreement | undefined;
  /** Asks whether a port may be exposed. Resolves to the reason for a refusal, in words. */
  readonly agreeToPort: (port: number) => Promise<string | undefined>;
  /** Undefined: no reader is connected, so output is not decoded while the command runs. */
  readonly live: LiveOutput | undefined;
  /** The call's trace headers, for the environment of the processes that it starts. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/**
 * Commands and background shells, restricted to those that the call has declared. They work only while the
 * call lives.
 */
export function grantProcesses({
  ready,
  conversation,
  settings,
  lease,
  signal,
  note,
  noted,
  live,
  tally,
  agree,
  deeds,
  late,
  agreeToPort,
  headers,
}: ProcessGrant): ToolProcesses {
  const { sandbox, shells } = settings;
  const traced = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    settings.telemetry === undefined ? env : { ...env, ...inUpperCase(headers()) };

  function place(shell: Shell, command: string, cwd: string | undefined): string {
    const at = cwd === undefined ? sandbox.cwd : sandbox.resolve(cwd, 'read');
    requireCommand(ready, shell, command, at);
    return at;
  }

  /** The parts of a request that record the process, and assign its changes to this call. */
  function recordedParts(onStarted: (started: StartedCommand) => void) {
    return {
      tool: ready.tool.name,
      keepVersion(bytes: Uint8Array): string | undefined {
        const ref = settings.outputs.save(bytes);
        if (ref !== undefined) stateSource(ref, ready.origin);
        return ref;
      },
      deeds,
      ...(agree === undefined ? {} : { agree }),
      ...(ready.writesThrough ? { writesThrough: true } : {}),
      ...(ready.needsTransaction || ready.asksBeyond || (ready.isAgreed && ready.containment.transaction)
        ? { needsTransaction: true }
        : {}),
      // If the journal holds neither of these notes, the call has started no process.
      onStarting(begun: TransactionEvent | undefined): Promise<void> {
        if (begun === undefined) return noted({ starting: true });
        const { directory, ...event } = begun;
        return noted({ transaction: directory, ...event });
      },
      onTransaction: ({ directory, ...event }: TransactionEvent) =>
        note({ transaction: directory, ...event }),
      onStarted,
    };
  }

  // Shells that this call started. Their ids could not be declared, because a tool learns them only at the
  // start.
  const own = new Set<string>();
  function requireShell(capability: ShellCapability, id: string): void {
    if (!own.has(id)) requireDeclaredShell(ready, capability, id);
  }

  return {
    async run({ shell, command, cwd, keepBytes, clean, attached, keepsRest }) {
      lease.require('run a command');
      let begun: StartedCommand | undefined;
      const at = place(shell, command, cwd);
      const mayCreate = agreedNames(ready, late, { command, cwd: at });
      const running = settings.runCommand({
        conversation,
        shell,
        command,
        cwd: at,
        ...(mayCreate === undefined ? {} : { mayCreate }),
        targets: namedPaths(ready, at, ['write', 'delete']),
        sources: namedPaths(ready, at, ['read']),
        env: traced(settings.commandEnvironment({ isAttended: attached?.isAttended === true })),
        signal,
        keepBytes: keepBytes ?? OUTPUT_LIMITS.streamBytes,
        ...(attached === undefined ? {} : { attached }),
        ...(keepsRest === true ? { keepsRest } : {}),
        openWhole: () => settings.outputs.openSink(),
        ...recordedParts((started) => {
          begun = started;
          note({ ...started, command: hash('sha256', command) });
        }),
        ...(live === undefined ? {} : { onOutput: (stream, chunk) => live.push(stream, chunk) }),
      });
      const outcome = await lease.holdProcess(tally.count(running));
      const { exitCode, signal: endedBy } = outcome;
      if (begun !== undefined) note({ pid: begun.pid, exitCode, signal: endedBy });
      return clean === true ? cleanOutcome(outcome, settings.secretValues) : outcome;
    },
    async startShell({ shell, command, cwd, timeoutMs }) {
      lease.require('start a background shell');
      if (!mayStartShell(ready.tool, ready.parsed)) throw noShellDeclared(ready.tool.name);
      const at = place(shell, command, cwd);
      await noted({ starting: true });
      const starting = shells.start({
        conversation,
        shell,
        command,
        cwd: at,
        env: traced(settings.commandEnvironment()),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      });
      tally.leave();
      // A stopped call does not report the id, so no later call could end the shell. Kill it now.
      const kept = starting.then((started) => (signal.aborted ? shells.kill(started.id) : started));
      const started = (await lease.holdProcess(kept)) ?? (await starting);
      own.add(started.id);
      stateSource(started.id, ready.origin);
      note({ shell: started.id, command: hash('sha256', command) });
      return started;
    },
    async readShell(id, options = {}) {
      lease.require('read a background shell');
      requireShell('watch shell', id);
      const pattern = options.filter === undefined ? undefined : compileFilter(options.filter);
      const wholeLines = pattern !== undefined;
      const raw = shells.read(id, { wholeLines });
      const reading = raw === undefined ? undefined : shellOutputOf(settings).clean(raw, { wholeLines });
      if (reading === undefined || pattern === undefined) return reading;
      const filter = (text: string): Promise<string> => filterLines(text, pattern, settings.clock, signal);
      return filterReading(reading, filter);
    },
    keepText(text) {
      lease.require('keep a text');
      const values = settings.secretValues;
      const cleaned = cleanOutput(text, { maxBytes: Number.POSITIVE_INFINITY, values }).text;
      const outputRef = settings.outputs.save(cleaned);
      return outputRef === undefined ? { text: cleaned } : { text: cleaned, outputRef };
    },
    findShell(id) {
      lease.require('look at a background shell');
      requireShell('watch shell', id);
      return shells.find(id);
    },
    async killShell(id) {
      lease.require('kill a background shell');
      requireShell('end shell', id);
      return lease.holdProcess(shells.kill(id));
    },
    async exposePort(port) {
      lease.require('expose a port');
      const { exposePort } = settings;
      if (exposePort === undefined) return NOT_EXPOSED;
      if (!ready.effects.some(({ effect }) => grantsEverything(effect) || effect.kind === 'run')) {
        throw noRunDeclared(ready.tool.name);
      }
      const refusal = await agreeToPort(port);
      return refusal ?? lease.holdProcess(exposePort(conversation, port));
    },
    environment(options) {
      lease.require('see the environment of commands');
      return traced(settings.commandEnvironment(options));
    },
    isConfined: () => confinementOf(ready.tool, settings) !== undefined,
    async runProgram(program) {
      lease.require('run a program');
      requireProgram(ready, program.file);
      const confinement = confinementOf(ready.tool, settings);
      const forbids = forbidsUndeclared(ready);
      let begun: StartedCommand | undefined;
      const running = settings.runProgram({
        ...program,
        conversation,
        ...recordedParts((started) => {
          begun = started;
          note({ ...started });
        }),
        signal: AbortSignal.any([signal, program.signal]),
        confinement,
        ...(forbids === undefined ? {} : { forbids }),
      });
      const outcome = await lease.holdProcess(tally.count(running));
      const { exitCode, signal: endedBy } = outcome;
      if (begun !== undefined) note({ pid: begun.pid, exitCode, signal: endedBy });
      return tellProgram(outcome, confinement !== undefined);
    },
    track(run) {
      lease.require('start a process');
      return lease.holdProcess(run((process) => note({ ...process })));
    },
  };
}

/** The paths that the command changes or reads, according to the command analysis. */
function namedPaths(
  { seen = [] }: ReadyCall,
  cwd: string,
  kinds: readonly ('read' | 'write' | 'delete')[],
): readonly string[] {
  return seen.flatMap((effect) =>
    'path' in effect && kinds.some((kind) => kind === effect.kind) ? [resolve(cwd, effect.path)] : [],
  );
}

/** The output already read from the shells of each executor. */
const shellOutputs = new WeakMap<ExecutionSettings['shells'], ShellOutput>();

function shellOutputOf({ shells, secretValues }: ExecutionSettings): ShellOutput {
  const output = shellOutputs.get(shells) ?? new ShellOutput(secretValues);
  shellOutputs.set(shells, output);
  return output;
}

type Shell = 'sh' | 'bash';
const SHELLS: readonly Shell[] = ['sh', 'bash'];

function requireCommand(ready: ReadyCall, shell: Shell, command: string, cwd: string): void {
  if (!SHELLS.includes(shell)) {
    const given = typeof shell === 'string' ? JSON.stringify(shell) : typeof shell;
    throw new ToolError('sandbox_violation', `Cannot run a command with the shell ${given}.`, {
      hint: 'Declare and give "sh" or "bash".',
      details: { reason: 'UndeclaredEffect', attempted: command, access: 'run' },
    });
  }
  let declaredShell: Shell | undefined;
  for (const { effect, at } of ready.effects) {
    if (grantsEverything(effect)) return;
    if (effect.kind !== 'run' || effect.command !== command || at !== cwd) continue;
    if (effect.shell === shell) return;
    declaredShell = effect.shell;
  }
  // The policy analysed the command for the declared shell. Another shell could read the same text
  // differently.
  const [why, hint] =
    declaredShell === undefined
      ? [`${ready.tool.name} did not declare it.`, DECLARE_RUN]
      : [
          `${ready.tool.name} declared it for ${declaredShell}, and runs it with ${shell}.`,
          `Declare shell: '${shell}' in its effects.`,
        ];
  throw new ToolError('sandbox_violation', `Cannot run a command: ${why}`, {
    hint,
    details: { reason: 'UndeclaredEffect', attempted: command, access: 'run' },
  });
}

type ShellCapability = 'watch shell' | 'end shell';

function requireDeclaredShell(ready: ReadyCall, capability: ShellCapability, id: string): void {
  const isGranted = ready.effects.some(
    ({ effect }) =>
      grantsEverything(effect) ||
      (effect.kind === 'process' && effect.id === id && grants(effect, capability)),
  );
  if (isGranted) return;
  const [what, effect] =
    capability === 'watch shell'
      ? ['read', "{ kind: 'process', id, access: 'read' }"]
      : ['end', "{ kind: 'process', id }"];
  throw new ToolError(
    'sandbox_violation',
    `Cannot ${what} a background shell: ${ready.tool.name} did not declare it.`,
    {
      hint: `Declare ${effect} in its effects.`,
      details: { reason: 'UndeclaredEffect', attempted: id, access: 'process' },
    },
  );
}

function noShellDeclared(name: string): ToolError {
  return new ToolError(
    'sandbox_violation',
    `Cannot start a background shell: ${name} says that it starts none.`,
    {
      hint: 'Declare background: true, or a function of the arguments.',
      details: { reason: 'UndeclaredEffect', access: 'process' },
    },
  );
}

const NOT_EXPOSED = 'it is not switched on here, or the network of commands is on';

function noRunDeclared(name: string): ToolError {
  return new ToolError('sandbox_violation', `Cannot expose a port: ${name} did not declare a command.`, {
    hint: DECLARE_RUN,
    details: { reason: 'UndeclaredEffect', access: 'run' },
  });
}

const DECLARE_RUN = "Declare { kind: 'run', command, shell, cwd } in the effects of the tool.";

/** A longer pattern is probably a mistake. */
const LONGEST_FILTER = 1000;
/** The prefix that grep and most languages use for case-insensitive patterns. ECMA-262 does not have it. */
const IGNORE_CASE = '(?i)';

function compileFilter(filter: string): LinearPattern {
  try {
    if (filter.length > LONGEST_FILTER) throw new Error(`it is longer than ${LONGEST_FILTER} characters.`);
    const ignoreCase = filter.startsWith(IGNORE_CASE);
    return compileLinearPattern(ignoreCase ? filter.slice(IGNORE_CASE.length) : filter, { ignoreCase });
  } catch (error) {
    throw new ToolError('bad_args', `Invalid filter regex: ${reasonOf(error)}`, { cause: error });
  }
}

async function filterReading(
  reading: ShellReading,
  filter: (text: string) => Promise<string>,
): Promise<ShellReading> {
  const filtered = async (part: ShellText): Promise<ShellText> => ({
    ...part,
    text: await filter(part.text),
  });
  return { ...reading, stdout: await filtered(reading.stdout), stderr: await filtered(reading.stderr) };
}

/** Upper-cases the header names: programs look for `TRACEPARENT` in their environment. */
function inUpperCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
}
