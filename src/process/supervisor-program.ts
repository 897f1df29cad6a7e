/**
 * For `sh -c`. Each line of its input is the whole list of running commands, `pid:start:mark:file` each. When the input
 * ends, our program has: everything that belongs to a command of the last list is ended, found by session, parent,
 * mark in its environment, or open mark file. TERM first, KILL after 300 ms, until two looks find nobody.
 *
 * Plain POSIX, for dash, bash, busybox and others; `grep` and `find` add what only they can see.
 */
export const SUPERVISOR_PROGRAM = String.raw`
trap '' HUP INT QUIT TERM PIPE
last=
while read -r line; do last=$line; done
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
  # A number that was given out anew is not ours.
  if fields_of "$pid"; then
    set -f; set -- $fields; set +f
    [ "\${20}" = "$start" ] || continue
  fi
  leaders="$leaders$pid "
done

if [ ! -r /proc/self/stat ]; then
  for pid in $leaders; do kill -TERM -- "-$pid"; done 2>/dev/null
  sleep 0.3 2>/dev/null || sleep 1
  for pid in $leaders; do kill -KILL -- "-$pid"; done 2>/dev/null
  exit 0
fi

look() {
  found=' '
  set +f
  for place in $(grep -laF $patterns /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${place#/proc/}; found="$found\${pid%%/*} "
  done
  if [ -n "$files" ]; then
    dirs=$(echo /proc/[0-9]*/fd)
    set -f
    for place in $(find $dirs -false $files 2>/dev/null); do
      pid=\${place#/proc/}; found="$found\${pid%%/*} "
    done
  fi
  set +f
  all=$(echo /proc/[0-9]*)
  set -f
  # Twice: a child may have a smaller number than its parent.
  for turn in 1 2; do
    for dir in $all; do
      pid=\${dir#/proc/}
      case $found in *" $pid "*) continue ;; esac
      fields_of "$pid" || continue
      set -- $fields
      case $leaders in *" $4 "*) found="$found$pid "; continue ;; esac
      case $found in *" $2 "*) found="$found$pid " ;; esac
    done
  done
  alive=
  for pid in $found; do
    [ "$pid" = $$ ] && continue
    fields_of "$pid" || continue
    case $fields in Z*|X*) ;; *) alive="$alive $pid" ;; esac
  done
}

round=0
quiet=0
while [ $round -lt 80 ] && [ $quiet -lt 2 ]; do
  look
  if [ -z "$alive" ]; then
    quiet=$((quiet + 1))
  else
    quiet=0
    if [ $round -eq 0 ]; then
      kill -TERM $alive 2>/dev/null
      kill -CONT $alive 2>/dev/null
    elif [ $round -ge 3 ]; then
      kill -KILL $alive 2>/dev/null
    fi
  fi
  round=$((round + 1))
  sleep 0.1 2>/dev/null || sleep 1
done
`.replaceAll('\\$', '$');
