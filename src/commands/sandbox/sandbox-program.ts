import type { Report } from '../../platform/process/report-file.js';
import type { NetworkCounts } from '../../platform/process/room-keeper.js';
import { signalName } from '../../platform/process/send-signal.js';
import type { ProcessEnd } from '../../platform/process/spawn.js';
import type { PersonalFile } from './git/personal-settings.js';

/**
 * For `sh -c` inside the sandbox, followed by a name and the program with its arguments. It runs the program, tells on
 * descriptor 4 what becomes of it, and ends what the program leaves running: every process of this namespace but itself. It
 * is the init of the namespace, which no process in there can kill. Only it can tell an exit code of 137 from a KILL: the
 * shell says a word of those who die by a signal, and its own words go to the report. (Not those about a command that it
 * has redirected: hence the subshell.)
 *
 * A descriptor after the report would be a place of the machine that bubblewrap was handed and has not closed.
 */
export function sandboxProgram({
  limits,
  isReported,
  settings,
  isAhead,
  isCounted,
  keepsInput = false,
}: SandboxProgram): string {
  return `${isReported ? '' : 'exec 4>/dev/null'}
${isAhead ? WAIT_FOR_ORDER : ''}
${keepsInput ? '' : 'exec </dev/null'}
[ ! -e /proc/self/fd/5 ] || exit 1
exec 5>&2 2>&4
${settings.map(({ path, text }) => `printf %s ${quoteForShell(text)} >${quoteForShell(path)}`).join('\n')}
trap : HUP INT QUIT TERM
echo started >&4 || exit 1
(
${limits}
exec "$@" 2>&5 4>&- 5>&-
)
status=$?
${isCounted ? REPORT_COUNTS : ''}
echo "ended $status" >&4
others() { set -- /proc/[0-9]*; [ $# -gt 1 ]; }
# What is left may be busy with its last output (> >(tee log)).
round=0
while others && [ $round -lt 12 ]; do
  [ $round -eq 4 ] && kill -s TERM -- -1
  sleep 0.03 || break
  round=$((round + 1))
done
others && kill -s KILL -- -1
exit $status
`;
}

/** By the place of the number: the kernel's order of them never changes. */
const REPORT_COUNTS = `[ $status -eq 0 ] || {
  read -r _; read -r _ _ _ _ _ _ _ _ _ _ _ _ toolexec_routes _
} </proc/net/snmp
[ $status -eq 0 ] || [ ! -e /proc/net/snmp6 ] || while read -r toolexec_name toolexec_value; do
  case $toolexec_name in
    Ip6OutNoRoutes) toolexec_routes=$((toolexec_routes + toolexec_value)) ;;
    Udp6NoPorts) toolexec_ports=$toolexec_value ;;
  esac
done </proc/net/snmp6
[ $status -eq 0 ] || echo "refused $toolexec_routes \${toolexec_ports:-0}" >&4`;

/** Nothing but these come through every shell's `read` as they are. A pipe takes so many bytes at once or not at all. */
const PLAIN_ORDER = /^[\t\n\x20-\x7e]{1,4000}$/;

/**
 * What a sandbox that was started ahead is told: the working directory, and the command. Undefined where it cannot be told
 * so.
 */
export function orderFor(cwd: string, command: string): string | undefined {
  const order = `${cwd}\n${command}`;
  return !cwd.includes('\n') && PLAIN_ORDER.test(order) ? order : undefined;
}

/** The program's arguments are the shell and its name; the end of the input without an order is the end. */
const WAIT_FOR_ORDER = `IFS= read -r toolexec_directory || exit 1
toolexec_command=
while IFS= read -r toolexec_line; do
  toolexec_command="$toolexec_command$toolexec_line
"
done
cd -- "$toolexec_directory" || exit 1
set -- "$1" -c "$toolexec_command$toolexec_line" "$2"`;

export interface SandboxProgram {
  /** Of `limitLines`. */
  readonly limits: string;
  /** Descriptor 4 is read. */
  readonly isReported: boolean;
  /** Files to be written before. */
  readonly settings: readonly PersonalFile[];
  /** It is started before its command is known: standard input is `orderFor` that. */
  readonly isAhead: boolean;
  /** It has a network namespace for itself: what that refused is reported if the command fails. */
  readonly isCounted: boolean;
  /** The program gets standard input as it is. Left out: none. */
  readonly keepsInput?: boolean;
}

/**
 * `script` (util-linux) makes a terminal in the devices of the sandbox and passes everything between that and ours. So the
 * command controls a terminal, with jobs and sizes, and never the one that the person types commands to toolexec on.
 */
export function onOwnTerminal(
  program: readonly string[],
  { SHELL }: Readonly<Record<string, string>>,
): readonly string[] {
  const words = program.map(quoteForShell).join(' ');
  const shell = SHELL === undefined ? 'unset SHELL;' : `SHELL=${quoteForShell(SHELL)}`;
  return ['/bin/sh', '-c', 'SHELL=/bin/sh exec script -qec "$1" /dev/null', 'sh', `${shell} exec ${words}`];
}

/** One word for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface SandboxedEnd extends ProcessEnd {
  /** The sandbox could not be built, and the command did not begin. */
  readonly neverStarted: boolean;
  /** Everything it started has ended too. */
  readonly tidied: boolean;
  /** What its own network namespace refused. Left out: it has none, or did not fail. */
  readonly counts?: NetworkCounts;
}

/**
 * What became of a command, by how bubblewrap ended and what was reported from inside: bubblewrap says 137 for a KILL.
 * @param report of `sandboxProgram`; undefined where there could be none.
 */
export function readReport(end: ProcessEnd, report: Report | undefined): SandboxedEnd {
  if (report === undefined) return { ...end, neverStarted: false, tidied: false };
  // Most of it is room that was never written to.
  const lines = report.text
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  if (lines[0] !== 'started') {
    // The command can reach it too, as anything that the reporting shell has open: then nothing is known but the end.
    const neverStarted = !report.isTouched;
    return { ...end, neverStarted, tidied: neverStarted };
  }
  const last = lines.at(-1)?.startsWith('ended ') === true;
  const counts = countsIn(last ? lines.at(-2) : undefined);
  // Between the two stands what the shell says of those who die by a signal.
  const signalled = last ? lines.length > (counts === undefined ? 2 : 3) : true;
  const told = signalled ? bySignal(end) : undefined;
  return {
    ...(told ?? end),
    ...{ neverStarted: false, tidied: last && end.exitCode !== null },
    ...(counts === undefined ? {} : { counts }),
  };
}

function countsIn(line = ''): NetworkCounts | undefined {
  const [, noRoute, noPort6] = /^refused (\d+) (\d+)$/.exec(line) ?? [];
  return noRoute === undefined ? undefined : { noRoute: Number(noRoute), noPort6: Number(noPort6) };
}

/** What bubblewrap ends with after a report that is whole. */
export function endToldBy(report: Report | undefined): ProcessEnd | undefined {
  const [, status] = /\nended (\d{1,3})\n+$/.exec(report?.text ?? '') ?? [];
  return status === undefined ? undefined : { exitCode: Number(status), signal: null };
}

function bySignal({ exitCode }: ProcessEnd): ProcessEnd | undefined {
  const signal = exitCode === null || exitCode <= 128 ? undefined : signalName(exitCode - 128);
  return signal === undefined ? undefined : { exitCode: null, signal };
}
