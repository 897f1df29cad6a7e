import type { CommandRequest, Confinement, GuardedPaths } from '../../contract/processes.js';
import { removeQuietly } from '../../platform/remove-quietly.js';
import { openReportFile, type ReportFile } from '../../platform/report-file.js';
import type { ProcessStart } from '../../platform/spawn.js';
import { holdStandIn, isStandIn } from '../../platform/stand-in.js';
import { limitLines } from '../limits/limit-program.js';
import { bubblewrapArguments } from './bubblewrap-arguments.js';
import type { CommandEntry } from './command-entry.js';
import { gitRedirections } from './git-mounts.js';
import { readReport } from './read-report.js';
import { walledProgram } from './walled-program.js';

export interface WalledCommand {
  readonly request: Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env' | 'limits'>;
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
  const limits = limitLines(request.limits ?? {}, true);
  const program = [
    ...['/bin/sh', '-c', walledProgram({ limits, isReported: report !== undefined }), 'toolexec'],
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
  const redirections = readOnly
    .filter(({ path, type }) => type === 'dir' && path.endsWith('/.git'))
    .flatMap(({ path }) => gitRedirections(path));
  return {
    guarded: { ...guarded, missing, readOnly },
    release() {
      for (const release of releases) release();
      for (const path of redirections) removeQuietly(path);
    },
  };
}
