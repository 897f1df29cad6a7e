import { basename, dirname } from 'node:path';
import type { CommandRequest } from '../../contract/processes.js';
import { type InheritedFile, openBytes, openInherited, openText } from '../../platform/fs/inherited-file.js';
import { openReportFile, type ReportFile } from '../../platform/process/report-file.js';
import type { ProcessEnd, ProcessStart } from '../../platform/process/spawn.js';
import { bubblewrapArguments, emptyHome, inMemory } from './bubblewrap-arguments.js';
import { personalGitFiles } from './git/personal-settings.js';
import type { GuardWatch } from './guard-mounts.js';
import { limitLines } from './limit-lines.js';
import { FIRST_PLACE } from './mount-holder.js';
import { OFFLINE_ENVIRONMENT } from './offline-environment.js';
import { offlineNames } from './offline-names.js';
import { type OutsidePlaces, openOutside } from './outside-places.js';
import type { Room } from './room.js';
import { type MountRequest, openMounts, ownIdArguments, type SandboxMounts } from './sandbox-mounts.js';
import {
  endToldBy,
  onOwnTerminal,
  readReport,
  type SandboxedEnd,
  sandboxProgram,
} from './sandbox-program.js';
import { syscallFilter } from './syscall-filter.js';

export interface SandboxedCommand extends MountRequest {
  readonly request: Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env' | 'limits' | 'attached'>;
  readonly shellFile: string;
  /** The network namespace that it joins. If absent: a new one, if the network is off. */
  readonly room?: Room | undefined;
  /** It is started before its command is known, and reads the command from standard input (`orderFor`). */
  readonly isAhead?: boolean;
  /** The report of its end is not read. */
  readonly isBackground?: boolean;
}

/**
 * Prepares everything that a command in the sandbox needs. The caller closes it, whether it was started or not.
 * @throws ToolError `spawn_failed` if the roots change faster than a sandbox can be built
 */
export function openSandbox(sandboxed: SandboxedCommand): CommandEntry {
  const built = openMounts(sandboxed);
  try {
    return entryOf({ ...sandboxed, built });
  } catch (error) {
    built.close();
    throw error;
  }
}

function entryOf({
  request,
  confinement,
  bubblewrap,
  shellFile,
  layers,
  isAhead = false,
  isBackground = false,
  room,
  built,
}: SandboxedCommand & { readonly built: SandboxMounts }): CommandEntry {
  const { shell, command, cwd, attached } = request;
  const env = withGit(built.git, {
    ...request.env,
    ...(confinement.network ? {} : OFFLINE_ENVIRONMENT),
    ...(request.env.TMPDIR === undefined ? {} : { TMPDIR: '/tmp' }),
  });
  const home = emptyHome(env.HOME, confinement.roots);
  const report = openReportFile();
  const limits = limitLines(request.limits ?? {}, true);
  const settings = home === undefined ? [] : personalGitFiles(request.env, home);
  const outside = isBackground ? undefined : openOutside({ confinement, layers, home, given: settings });
  const isInputTaken = isAhead || attached !== undefined;
  const isAlone = room === undefined && !confinement.network;
  const inside = sandboxProgram({
    ...{ limits, isReported: report !== undefined, settings, isAhead, isCounted: isAlone },
    keepsInput: attached !== undefined,
  });
  // The last argument is `$0`.
  const started = [shellFile, ...(isAhead ? [] : ['-c', command]), shell];
  const program = [
    ...[REPORTER, '-c', inside, 'toolexec'],
    ...(attached?.kind === 'terminal' ? onOwnTerminal(started, env) : started),
  ];
  // With the root of the file system as a root, these files would be written to the machine.
  const isGiven = !confinement.network && !confinement.roots.includes('/');
  const names = (isGiven ? offlineNames(room?.hasLoopback6) : []).map(
    ({ text, arguments: argumentsFor }) => ({
      file: openText(text),
      argumentsFor,
    }),
  );
  const opened = [
    ...(built.table === undefined ? [] : [openText(built.table)]),
    ...openFilter(layers === undefined),
    ...names.map(({ file }) => file),
  ];
  const reporter = openInherited('/bin/sh');
  const firstAt = FIRST_PLACE + built.places.length;
  const filterAt = firstAt + (built.table === undefined ? 0 : 1);
  const first = [
    ...(FILTER === undefined ? [] : ['--seccomp', `${filterAt}`]),
    ...names.flatMap(({ file, argumentsFor }) => argumentsFor(firstAt + opened.indexOf(file))),
    ...reporterArguments(isInputTaken ? firstAt + opened.length : 0),
  ];
  const isInRoom = room !== undefined;
  const isRootBefore = isInRoom && built.command.length === 0;
  const mounts = isRootBefore ? [...ownIdArguments(), ...built.mounts] : built.mounts;
  const empty = outside?.mounts ?? inMemory(home);
  const args = bubblewrapArguments({
    ...{ confinement, mounts, empty, env, cwd, isInRoom, first, program },
    beyond: (isTaken) => outside?.beyond(isTaken) ?? [],
  });
  const places = outside?.placesFor(args);
  const [file = bubblewrap.file, ...rest] = [
    ...(room?.command ?? []),
    ...built.command,
    bubblewrap.file,
    ...args,
  ];
  return {
    start: {
      ...{ file, name: basename(file), args: rest },
      ...(isInputTaken ? {} : { input: reporter.fd }),
      ...{
        places: built.places,
        files: [...opened, ...(isInputTaken ? [reporter] : [])].map(({ fd }) => fd),
      },
      ...(attached === undefined ? {} : { attached: attached.output ?? 'output' }),
      ...reportTo(report),
    },
    env,
    incomplete: built.incomplete,
    ...(built.watch === undefined ? {} : { watch: built.watch }),
    ...(places === undefined ? {} : { outside: places }),
    read: (end) => readReport(end, report?.read()),
    exitStatus: () => endToldBy(report?.read()),
    close() {
      for (const open of [report, reporter, ...opened]) open?.close();
      places?.remove();
      built.close();
    },
  };
}

/**
 * The shell that reports how the command ends. It is a copy without read permission. So the kernel lets no process
 * trace it, read its memory or write to its open files.
 */
const REPORTER = '/dev/toolexec/sh';

/** @param descriptor of the shell's file */
function reporterArguments(descriptor: number): readonly string[] {
  return ['--dir', dirname(REPORTER), '--perms', '0111', '--file', `${descriptor}`, REPORTER];
}

/** @param dropsModes false for a transaction: there, modes are checked before the changes are committed */
function openFilter(dropsModes: boolean): readonly InheritedFile[] {
  const bytes = dropsModes ? STRICT_FILTER : FILTER;
  return bytes === undefined ? [] : [openBytes(bytes)];
}

const STRICT_FILTER = syscallFilter(true);
const FILTER = syscallFilter(false);

function reportTo(report: ReportFile | undefined): Pick<ProcessStart, 'report'> {
  return report === undefined ? {} : { report: report.fd };
}

/** Adds settings for every git that the command starts to those that its environment already has. */
function withGit(
  settings: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(settings);
  if (entries.length === 0) return env;
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const variables = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return {
    // Reading the state of a repository then does not rewrite its index, which another program may be writing.
    GIT_OPTIONAL_LOCKS: '0',
    ...env,
    ...Object.fromEntries(variables),
    GIT_CONFIG_COUNT: `${first + entries.length}`,
  };
}

/** The start of a sandboxed command, and the means to read how it ended. */
export interface CommandEntry {
  readonly start: Pick<
    ProcessStart,
    'holdsOrphans' | 'file' | 'name' | 'args' | 'report' | 'places' | 'attached'
  >;
  readonly env: Readonly<Record<string, string>>;
  /** Some paths that need a guard are not guarded. */
  readonly incomplete: boolean;
  /** If absent: no guard needs watching while the command runs. */
  readonly watch?: GuardWatch;
  /** If absent: such writes stay in memory and are not listed. */
  readonly outside?: OutsidePlaces;
  readonly read: (end: ProcessEnd) => SandboxedEnd;
  /** How the process ended, once its output is closed; undefined if only the system knows. */
  readonly exitStatus: () => ProcessEnd | undefined;
  readonly close: () => void;
}
