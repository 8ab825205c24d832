/**
 * Descriptors of a box beside 0 to 2. A shell can redirect single digits only, and takes 3 to 5 for
 * itself below.
 */
export const DESCRIPTORS = {filter: 6, profile: 7, status: 8, report: 9} as const;

/** `sh -c JOIN sh COUNT PROCS-FILE... PROGRAM ARG...`: joins control groups, then goes on. */
export const JOIN = `
count=$1; shift
while [ "$count" -gt 0 ]; do
  echo 0 >"$1" || exit 125
  shift; count=$((count - 1))
done
`;

/** Becomes the program, which so stays a child of ours and dies with us. */
export const BECOME = 'exec "$@"\n';

/**
 * The same, with pipes for its output. Node's "pipes" are sockets, and a socket cannot be opened as
 * /dev/stdout or /dev/stderr. The pipe of a here-document can: the program gets the writing ends of
 * two of them, and `cat` carries on. A shell that uses files for here-documents leaves the sockets.
 */
export const BECOME_WITH_PIPES = `
out=1 err=2
exec 3<<END
END
if [ -p /proc/self/fd/3 ]; then
  exec 4>/proc/self/fd/3
  /bin/cat <&3 3<&- 4>&- 6<&- 7<&- 8>&- 9>&- &
  exec 3<<END
END
  exec 5>/proc/self/fd/3
  /bin/cat <&3 >&2 3<&- 4>&- 5>&- 6<&- 7<&- 8>&- 9>&- &
  out=4 err=5
fi
exec "$@" >&"$out" 2>&"$err" 3<&- 4>&- 5>&-
`;

/** What `INIT` reads from its standard input: the command, and the variables that the caller gave it. */
export function commandScript({
  command,
  env,
}: {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}): string {
  const assignments = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  // Set last, so that half a script of a host that died runs half a command never.
  return `command=${quoted(command)}\nset -- ${assignments.join(' ')}\ncomplete=1\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The first line of the report: the command has arrived whole. Names of processes follow. */
export const STARTED = 'started';

/**
 * Process 1 of the box: `sh -c INIT sh FILES PROCESSES DATA-KB <COMMAND-SCRIPT`
 *
 * It lowers the limits before anything of the caller is looked at, waits for the command, runs it, says what
 * is left, and ends; the kernel then kills the rest before the end is reported. Being process 1 it cannot
 * be killed from inside, and it reaps orphans while it waits. `-p` is `-u` in dash and busybox.
 */
export const INIT = `
ulimit -c 0
ulimit -n "$1" 2>/dev/null
[ "$3" = 0 ] || ulimit -d "$3" 2>/dev/null
[ "$2" = 0 ] || ulimit -u "$2" 2>/dev/null || ulimit -p "$2" 2>/dev/null
complete=
script=$(/bin/cat)
exec </dev/null
eval "$script" >/dev/null
[ "$complete" = 1 ] || exit 125
echo ${STARTED} >&9
if [ $# -eq 0 ]; then
  /bin/sh -c "$command" 9>&-
else
  /usr/bin/env "$@" /bin/sh -c "$command" 9>&-
fi
code=$?
count=0
for status in /proc/[0-9]*/status; do
  [ "$status" = /proc/1/status ] && continue
  [ "$count" -lt 16 ] || break
  name= state=
  while read -r key value rest; do
    case $key in Name:) name=$value ;; State:) state=$value; break ;; esac
  done 2>/dev/null <"$status"
  case $state in ''|Z|X) continue ;; esac
  printf '%s\\n' "$name" >&9
  count=$((count + 1))
done
exit "$code"
`;
