/**
 * A program for `sh -c`, in a process that adopts its orphans. A name and the command with its arguments follow. It
 * runs the command, reports its end on descriptor 4 like the shell in the sandbox, and ends the remaining processes.
 */
export function holdingProgram(limits: string): string {
  return `exec 5>&2 2>&4
trap : HUP INT QUIT TERM
echo started >&4
(
${limits}
exec "$@" 2>&5 4>&- 5>&-
)
status=$?
echo "ended $status" >&4
others() { found=; read -r found </proc/$$/task/$$/children; [ -n "$found" ]; }
# The remaining processes may be busy with their last output (> >(tee log)).
round=0
while others && [ $round -lt 12 ]; do
  [ $round -eq 4 ] && kill -s TERM $found
  sleep 0.03 || break
  round=$((round + 1))
done
while others && [ $round -lt 300 ]; do
  kill -s KILL $found
  sleep 0.01 || break
  round=$((round + 1))
done
others && echo 'some are left' >&4
exit $status
`;
}

/** Whether a shell passes an environment on unchanged. */
export function shellsCarry(env: Readonly<Record<string, string>>): boolean {
  return Object.keys(env).every((name) => CARRIED.test(name) && !OWN.test(name));
}

/** Names that every shell passes on. */
const CARRIED = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names with a special meaning to some shell, which might change their values. */
const OWN = /^(?:OPTIND|OPTARG|PPID|E?UID|LINENO|SHELLOPTS|BASHOPTS|BASH_.*|RANDOM|SECONDS|IFS|ENV)$/;
