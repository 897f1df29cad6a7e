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
