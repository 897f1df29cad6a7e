import { findShell } from '../platform/process/find-shell.js';
import { readProcess } from '../platform/process/proc-table.js';
import { type ListEntry, SharedList } from '../platform/process/shared-list.js';
import type { StartedProcess } from '../platform/process/spawn.js';
import { type HelperProcess, spawnHelper } from '../platform/process/spawn-helper.js';
import { endSpawnServer } from '../platform/process/start-process.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import type { CommandMark } from './command-mark.js';

/** A command that the supervisor knows. */
export interface Supervision {
  /** Adds its process to its mark. */
  started(process: StartedProcess): void;
  /** It has ended, or was never started. */
  end(): void;
}

/**
 * Makes commands end with this program, even after SIGKILL. A small shell next to us has a list of running
 * commands; when its input ends, it ends them. Call it before the command starts: then every process with its
 * mark is found.
 */
export function superviseCommand({ id, file }: CommandMark): Supervision {
  // Only the number of the mark file's name: `/dev/shm/#4711 (deleted)`.
  const fileNumber = /#(\d+)/.exec(file?.name ?? '')?.[1] ?? '';
  const entryOf = (pid: number, startTicks: number): string => `${pid}:${startTicks}:${id}:${fileNumber}`;
  const entry = addToList(entryOf(0, 0));
  running++;
  if (list !== undefined) supervisor ??= start(list);
  return {
    started({ pid, seen }) {
      entry?.change(entryOf(pid, seen?.startTicks ?? readProcess(pid)?.startTicks ?? 0));
    },
    end() {
      entry?.remove();
      running--;
    },
  };
}

/** It restarts with the next command. With a running command it stays. Resolves when it is gone. */
export async function endSupervisor(): Promise<void> {
  const ending = supervisor;
  if (ending === undefined || running > 0) return;
  supervisor = undefined;
  await ending.end();
}

let running = 0;
let list: SharedList | undefined;
let supervisor: HelperProcess | undefined;

/** Undefined if it cannot be written: then only the starting process can end the command. */
function addToList(text: string): ListEntry | undefined {
  try {
    list ??= new SharedList();
    return list.add(text);
  } catch {
    return undefined;
  }
}

function start(known: SharedList): HelperProcess | undefined {
  const file = findShell('sh');
  if (file === undefined) return undefined;
  const helper = spawnHelper({
    file,
    args: ['-c', SUPERVISOR_PROGRAM, 'toolexec-supervisor'],
    env: helperEnvironment(),
    inherit: known.fd,
    onGone() {
      // It was ended from outside: its successor reads the same list.
      if (supervisor === helper) supervisor = running > 0 ? start(known) : undefined;
    },
  });
  return helper;
}

/** If we are part of a command ourselves, so is the supervisor, and it ends with that command. */
function helperEnvironment(): Record<string, string> {
  const kept = Object.entries(readEnvironment()).filter(
    ([name]) => name === 'PATH' || name === 'TOOLEXEC_CALL',
  );
  return Object.fromEntries(kept);
}

/**
 * For `sh -c`. Descriptor 3 is a list of running commands, one line `pid:start:mark:file` each, or blank; the
 * number is 0 for one that may not have started. The end of the input means that our program has ended: then
 * every process of a listed command is ended, found by session, parent, mark in its environment, or open mark
 * file. TERM first, KILL after 300 ms, until two searches find no process.
 *
 * Plain POSIX, for dash, bash, busybox and others; `grep` and `find` find what the shell itself cannot.
 */
export const SUPERVISOR_PROGRAM = String.raw`
trap '' HUP INT QUIT TERM PIPE
while read -r entry; do :; done
last=
while read -r entry; do
  [ -z "$entry" ] || last="$last $entry"
done <&3
exec 3<&-
[ -n "$last" ] || exit 0

# Reads /proc/$1/stat into the fields behind the program's name, which may hold anything, line ends too.
fields_of() {
  stat=
  { while read -r part || [ -n "$part" ]; do stat="$stat $part"; done < "/proc/$1/stat"; } 2>/dev/null || return 1
  fields=\${stat##*\) }
  [ -n "$fields" ]
}

leaders=' '
patterns=
files=
for entry in $last; do
  pid=\${entry%%:*}; rest=\${entry#*:}
  start=\${rest%%:*}; rest=\${rest#*:}
  mark=\${rest%%:*}; file=\${rest#*:}
  patterns="$patterns -e $mark"
  [ -n "$file" ] && files="$files -o -lname */#$file*"
  [ "$pid" != 0 ] || continue
  # A reused process id is not ours.
  if fields_of "$pid"; then
    set -f; set -- $fields; set +f
    [ "\${20}" = "$start" ] || continue
  fi
  leaders="$leaders$pid "
done

tell() {
  for group in $groups; do kill -s "$1" -- "-$group"; done 2>/dev/null
}

# One line per process, with its id in front. A name with a line end gives two lines, of which the last is right.
list_all() {
  set +f
  table=$(grep -aH ')' /proc/[0-9]*/stat 2>/dev/null)
  all=$(echo /proc/[0-9]*)
  set -f
  [ -z "$table" ] || return 0
  for dir in $all; do
    fields_of "\${dir#/proc/}" && table="$table$dir/stat:) $fields$newline"
  done
}

list_marked() {
  marked=' '
  set +f
  places=$(grep -laF $patterns /proc/[0-9]*/environ 2>/dev/null)
  dirs=$(echo /proc/[0-9]*/fd)
  set -f
  [ -n "$files" ] && places="$places $(find $dirs -false $files 2>/dev/null)"
  for place in $places; do
    pid=\${place#/proc/}; marked="$marked\${pid%%/*} "
  done
}

newline='
'
blanks="$IFS"
look() {
  list_marked
  list_all
  found=' '
  groups=' '
  alive=
  IFS=$newline
  # Twice: a child may have a smaller number than its parent.
  for turn in 1 2; do
    for line in $table; do
      pid=\${line#/proc/}; pid=\${pid%%/*}
      case $found in *" $pid "*) continue ;; esac
      IFS=$blanks
      set -- \${line##*\) }
      IFS=$newline
      [ -n "$4" ] || continue
      case $leaders in *" $4 "*) ours=session ;; *) ours= ;; esac
      if [ -z "$ours" ]; then
        case $marked in *" $pid "*) ours=mark ;; esac
        case $found in *" $2 "*) ours=parent ;; esac
        [ -n "$ours" ] || continue
        [ "$4" = "$pid" ] && leaders="$leaders$pid " && ours=session
      fi
      if [ $ours = session ]; then
        case $groups in *" $3 "*) ;; *) groups="$groups$3 " ;; esac
      fi
      found="$found$pid "
      [ "$pid" = $$ ] && continue
      case $1 in Z*|X*) ;; *) alive="$alive $pid" ;; esac
    done
  done
  IFS=$blanks
}

groups=$leaders
if [ ! -r /proc/self/stat ]; then
  tell TERM
  sleep 0.3 2>/dev/null || sleep 1
  tell KILL
  exit 0
fi

# A process that forks all the time escapes signals that are sent to one process after the other, and among thousands of
# its children a look takes long. So after a second, signal all known groups, whatever the look has found.
{
  sleep 1
  tell TERM
  tell CONT
  sleep 0.3 2>/dev/null || sleep 1
  tell KILL
} &
look
# Process by process: a parent that cleans up may need its children.
kill -TERM $alive 2>/dev/null
kill -CONT $alive 2>/dev/null
sleep 0.3 2>/dev/null || sleep 1

round=0
quiet=0
while [ $round -lt 80 ] && [ $quiet -lt 2 ]; do
  tell KILL
  look
  if [ -z "$alive" ]; then
    quiet=$((quiet + 1))
  else
    quiet=0
    tell KILL
    kill -KILL $alive 2>/dev/null
  fi
  round=$((round + 1))
  sleep 0.1 2>/dev/null || sleep 1
done
`.replaceAll('\\$', '$');

/**
 * Call it before commands may start, and call the returned function afterwards. The last one to do so ends
 * the helper processes, unless another command still runs; it resolves when they are gone.
 */
export function useCommandHelpers(): () => Promise<void> {
  users++;
  let isUser = true;
  return async () => {
    if (isUser) users--;
    isUser = false;
    if (users === 0) await Promise.all([endSpawnServer(), endSupervisor()]);
  };
}

let users = 0;
