import type { PersonalFile } from './git/personal-settings.js';

/**
 * For `sh -c` inside the sandbox, followed by a name and the program with its arguments. It runs the program, tells on
 * descriptor 4 what becomes of it, and ends what the program leaves running: everybody in this namespace but itself. It
 * is the init of the namespace, which nobody in there can kill. Only it can tell an exit code of 137 from a KILL: the
 * shell says a word of those who die by a signal, and its own words go to the report. (Not those about a command that it
 * has redirected: hence the subshell.)
 *
 * A descriptor after the report would be a place of the machine that bubblewrap was handed and has not closed.
 */
export function walledProgram({ limits, isReported, settings }: WalledProgram): string {
  return `${isReported ? '' : 'exec 4>/dev/null'}
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

export interface WalledProgram {
  /** Of `limitLines`. */
  readonly limits: string;
  /** Somebody reads descriptor 4. */
  readonly isReported: boolean;
  /** Files to be written before. */
  readonly settings: readonly PersonalFile[];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
