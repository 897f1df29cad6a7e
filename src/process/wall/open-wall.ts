import type { CommandRequest, Confinement, GuardedPaths } from '../../contract/processes.js';
import { openReportFile, type ReportFile } from '../../platform/report-file.js';
import type { ProcessStart } from '../../platform/spawn.js';
import { holdStandIn, isStandIn } from '../../platform/stand-in.js';
import { bubblewrapArguments } from './bubblewrap-arguments.js';
import type { CommandEntry } from './command-entry.js';
import { readReport } from './read-report.js';
import { UNREPORTED_PROGRAM, WALLED_PROGRAM } from './walled-program.js';

export interface WalledCommand {
  readonly request: Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env'>;
  readonly confinement: Confinement;
  /** Absolute. */
  readonly bubblewrap: string;
  readonly shellFile: string;
}

/** Makes ready what a command inside the wall needs. To be closed, started or not. */
export function openWall({ request, confinement, bubblewrap, shellFile }: WalledCommand): CommandEntry {
  const { shell, command, cwd } = request;
  const env = { ...request.env, ...(request.env.TMPDIR === undefined ? {} : { TMPDIR: '/tmp' }) };
  const { guarded, release } = holdGuarded(confinement.guarded());
  const report = openReportFile();
  const program = [
    ...['/bin/sh', '-c', report === undefined ? UNREPORTED_PROGRAM : WALLED_PROGRAM, 'toolexec'],
    // The last is what `$0` says.
    ...[shellFile, '-c', command, shell],
  ];
  const args = bubblewrapArguments({
    confinement: { ...confinement, guarded: () => guarded },
    env,
    cwd,
    program,
  });
  return {
    start: { file: bubblewrap, name: 'bwrap', args, ...reportTo(report) },
    env,
    read: (end) => readReport(end, report?.read()),
    close() {
      report?.close();
      release();
    },
  };
}

function reportTo(report: ReportFile | undefined): Pick<ProcessStart, 'report'> {
  return report === undefined ? {} : { report: report.fd };
}

/** What must not be made while a command runs gets a stand-in that can be covered. */
function holdGuarded(guarded: GuardedPaths): {
  readonly guarded: GuardedPaths;
  readonly release: () => void;
} {
  // Other programs of ours have their commands in the same roots.
  const standIns = guarded.readOnly.filter(({ path }) => path.endsWith('/.git') && isStandIn(path));
  const wanted = [...guarded.missing, ...standIns.map(({ path }) => path)];
  const releases: (() => void)[] = [];
  const missing = wanted.filter((path) => {
    const release = holdStandIn(path);
    if (release !== undefined) releases.push(release);
    return release !== undefined;
  });
  const readOnly = guarded.readOnly.filter(({ path }) => !missing.includes(path));
  return {
    guarded: { ...guarded, missing, readOnly },
    release() {
      for (const release of releases) release();
    },
  };
}
