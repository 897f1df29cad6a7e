import { quoted } from '../../base/quote-word.js';
import type { Report } from '../../platform/process/report-file.js';
import type { NetworkCounts } from '../../platform/process/room-keeper.js';
import { signalName } from '../../platform/process/send-signal.js';
import type { ProcessEnd } from '../../platform/process/spawn.js';
import type { PersonalFile } from './git/personal-settings.js';

/**
 * For `sh -c` inside the sandbox, followed by a name and the program with its arguments. It runs the program,
 * reports the end on descriptor 4, and ends the processes that the program leaves running: every process of
 * this namespace but itself. It is the init of the namespace, so no process inside can kill it. Only it can
 * distinguish an exit code of 137 from a KILL: the shell prints a word about a process that dies by a signal,
 * and its messages go to the report. (It prints none about a command whose streams it has redirected: hence
 * the subshell.)
 *
 * A descriptor after the report would be a place of the machine that was passed to bubblewrap and not closed.
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
${settings.map(({ path, text }) => `printf %s ${quoted(text)} >${quoted(path)}`).join('\n')}
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
# The remaining processes may be busy with their last output (> >(tee log)).
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

/** By its position in the line: the kernel never changes the order of the fields. */
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

/**
 * Every shell's `read` returns these characters unchanged, and a pipe takes this many bytes at once or not at
 * all.
 */
const PLAIN_ORDER = /^[\t\n\x20-\x7e]{1,4000}$/;

/**
 * The order for a sandbox that was started ahead: the working directory and the command. Undefined if it
 * cannot be sent this way.
 */
export function orderFor(cwd: string, command: string): string | undefined {
  const order = `${cwd}\n${command}`;
  return !cwd.includes('\n') && PLAIN_ORDER.test(order) ? order : undefined;
}

/**
 * The program's arguments are the shell and its name. If the input ends without an order, the program ends.
 */
const WAIT_FOR_ORDER = `IFS= read -r toolexec_directory || exit 1
toolexec_command=
while IFS= read -r toolexec_line; do
  toolexec_command="$toolexec_command$toolexec_line
"
done
cd -- "$toolexec_directory" || exit 1
set -- "$1" -c "$toolexec_command$toolexec_line" "$2"`;

export interface SandboxProgram {
  /** From `limitLines`. */
  readonly limits: string;
  /** Descriptor 4 is read. */
  readonly isReported: boolean;
  /** Files that are written before the start. */
  readonly settings: readonly PersonalFile[];
  /** It is started before its command is known; standard input provides the order (`orderFor`). */
  readonly isAhead: boolean;
  /** It has its own network namespace, whose refusals are reported if the command fails. */
  readonly isCounted: boolean;
  /** The program gets standard input unchanged. If absent: it gets none. */
  readonly keepsInput?: boolean;
}

/**
 * `script` (util-linux) creates a terminal in the devices of the sandbox and connects it with the outer one.
 * So the command controls a terminal, with jobs and sizes, but never the terminal on which the person types
 * commands to toolexec.
 */
export function onOwnTerminal(
  program: readonly string[],
  { SHELL }: Readonly<Record<string, string>>,
): readonly string[] {
  const words = program.map(quoted).join(' ');
  const shell = SHELL === undefined ? 'unset SHELL;' : `SHELL=${quoted(SHELL)}`;
  return ['/bin/sh', '-c', 'SHELL=/bin/sh exec script -qec "$1" /dev/null', 'sh', `${shell} exec ${words}`];
}

export interface SandboxedEnd extends ProcessEnd {
  /** The sandbox could not be built, and the command did not start. */
  readonly neverStarted: boolean;
  /** Everything it started has ended too. */
  readonly tidied: boolean;
  /** The refusals of a separate network namespace. Absent without one, and for a command that succeeded. */
  readonly counts?: NetworkCounts;
}

/**
 * The end of a command, from the end of bubblewrap and the report from inside: bubblewrap exits with 137
 * after a KILL.
 * @param report of `sandboxProgram`; undefined if there is none
 */
export function readReport(end: ProcessEnd, report: Report | undefined): SandboxedEnd {
  if (report === undefined) return { ...end, neverStarted: false, tidied: false };
  // Most of the file was never written.
  const lines = report.text
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  if (lines[0] !== 'started') {
    // The command can write it too, like every open file of the reporting shell. In that case only the end is
    // known.
    const neverStarted = !report.isTouched;
    return { ...end, neverStarted, tidied: neverStarted };
  }
  const last = lines.at(-1)?.startsWith('ended ') === true;
  const counts = countsIn(last ? lines.at(-2) : undefined);
  // Between the two are the shell's messages about processes that died by a signal.
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

/** The end that bubblewrap will have, from a complete report. */
export function endToldBy(report: Report | undefined): ProcessEnd | undefined {
  const [, status] = /\nended (\d{1,3})\n+$/.exec(report?.text ?? '') ?? [];
  return status === undefined ? undefined : { exitCode: Number(status), signal: null };
}

function bySignal({ exitCode }: ProcessEnd): ProcessEnd | undefined {
  const signal = exitCode === null || exitCode <= 128 ? undefined : signalName(exitCode - 128);
  return signal === undefined ? undefined : { exitCode: null, signal };
}
