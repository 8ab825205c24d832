// The shell scripts that start a command inside bubblewrap.
import {WORKSPACE_MOUNT} from '../../core/tool.ts';
import {START_RELAY} from '../egress-relay.ts';
import {REPORT_MOUNTS, REPORTED} from '../guard/guard.ts';
import {WAIT_FOR_COMMAND} from '../wait-for-command.ts';

/**
 * Descriptors of a sandbox beside 0 to 2. A shell can redirect single digits only, and takes 3 to 5 for
 * itself below. What the command writes to its standard error goes to `errors`; 2 is for the words of what makes
 * the sandbox.
 */
export const DESCRIPTORS = {errors: 6, profile: 7, status: 8, report: 9, filter: 11, gitConfig: 12} as const;

/** The profile of the inner bubblewrap, which no shell redirects. */
export const INNER_PROFILE = 10;

/** Becomes the program, which so stays a child of ours and dies with us. */
export const BECOME = 'exec "$@"\n';

/**
 * The same, with pipes for the output of a command as descriptors 4 and 5. Node's "pipes" are sockets, and a socket
 * cannot be opened as /dev/stdout or /dev/stderr. The pipe of a here-document can: the program gets the writing ends
 * of two of them, and `cat` carries on. A shell that uses files for here-documents leaves the sockets.
 *
 * Not as 1 and 2, which a bubblewrap keeps until it ends: so the output ends with the last process of the command,
 * some milliseconds before the namespaces are taken down.
 */
export const BECOME_WITH_PIPES = `
exec 3<<END
END
if [ -p /proc/self/fd/3 ]; then
  exec 4>/proc/self/fd/3
  /bin/cat <&3 3<&- 4>&- 6>&- 7<&- 8>&- 9>&- &
  exec 3<<END
END
  exec 5>/proc/self/fd/3
  /bin/cat <&3 >&6 3<&- 4>&- 5>&- 6>&- 7<&- 8>&- 9>&- &
else
  exec 4>&1 5>&6
fi
exec "$@" >/dev/null 3<&- 6>&-
`;

/**
 * review R17: the same where our process is process 1 of a container, which would get the two `cat` as orphans and
 * not reap them: a shell stays and waits for all of them.
 */
export const STAY_WITH_PIPES = BECOME_WITH_PIPES.replace(
  /exec "\$@".*\n$/,
  `"$@" >/dev/null 3<&- 6>&-
code=$?
exec >&- 4>&- 5>&- 6>&- 8>&- 9>&-
wait
exit "$code"
`,
);

/** What is run where the directory of a command is gone, or closed to it, by now. */
const NOT_ENTERED = `not_entered='echo "The directory of the command cannot be entered." >&2; exit 126'\n`;
/**
 * `sh -c BECOME_IF_PLACED sh PLACE PROGRAM...`: between the outer bubblewrap and the inner one. Where the workspace is
 * not the directory that was looked at, nothing is made in it; the report then says what it is.
 */
export const BECOME_IF_PLACED = `
PATH=/usr/sbin:/usr/bin:/sbin:/bin
place=$(stat -c %d:%i ${WORKSPACE_MOUNT})
if [ "$place" = "$1" ]; then
  shift
  exec "$@"
fi
echo "at $place" >&9
echo ${REPORTED} >&9
`;

/** What a sandbox reads from its standard input: the command, and the variables that the caller gave it. */
export function commandScript({
  command,
  directory,
  env,
}: {
  readonly command: string;
  readonly directory?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}): string {
  const assignments = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  const entering =
    directory === undefined
      ? ''
      : `cd -- ${quoted(`${WORKSPACE_MOUNT}/${directory}`)} || command=$not_entered\n`;
  // Set last, so that half a script of a host that died runs half a command never.
  return `command=${quoted(command)}\nset -- ${assignments.join(' ')}\n${NOT_ENTERED}${entering}complete=1\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** In the report, once the command has arrived whole. */
export const STARTED = 'started';

/** Before the exit code, for where bubblewrap cannot say it. */
export const ENDED = 'ended ';

/** Before the name of a process that was left. */
export const LEFT = 'left ';

/** In the report, where the way out could not be made. */
export const NO_RELAY = 'no relay';

/** The last word of the report. */
export const OVER = 'over';

/**
 * What becomes the command, and is there before it: to start a process and to have its signals reset takes as long as
 * a small command. It waits for the command, on its standard input. In quotes below, so it has none itself.
 */
const RECEIVE = `
complete=
script=$(/bin/cat)
exec </dev/null
eval "$script" >/dev/null
[ "$complete" = 1 ] || exit 125
echo ${STARTED} >&9
exec 2>&5 5>&- 9>&-
[ "$#" = 0 ] || exec /usr/bin/env "$@" /bin/sh -c "$command"
exec /bin/sh -c "$command"
`;

/**
 * Process 1 of the sandbox: `sh -c INIT sh FILES PROCESSES DATA-KB RELAY MOUNT-POINT... <COMMAND-SCRIPT`
 *
 * It lowers the limits before anything of the caller is looked at, says what is mounted, starts what waits for the
 * command and becomes it, says how that ended and what is left, and ends; the kernel then kills the rest before the
 * end is reported. Being process 1 it cannot be killed from inside, and it reaps orphans while it waits. `-p` is
 * `-u` in dash and busybox. What it reports goes to descriptor 9, the output of the command to 4 and 5.
 */
export const INIT = `
exec >&4 4>&- 2>/dev/null
ulimit -c 0
ulimit -n "$1"
[ "$3" = 0 ] || ulimit -d "$3"
[ "$2" = 0 ] || ulimit -u "$2" || ulimit -p "$2"
relay=$4
shift 4
${START_RELAY}
start_relay "$relay" || echo '${NO_RELAY}' >&9
${REPORT_MOUNTS}
report_mounts "$@" >&9
${WAIT_FOR_COMMAND}
exec 3<&0 </dev/null
receive='${RECEIVE}'
if [ -z "$reset_signals" ]; then
  /bin/sh -c "$receive" <&3 3<&-
  code=$?
else
  /usr/bin/env "$reset_signals" /bin/sh -c "$receive" <&3 3<&- &
  exec 3<&-
  wait_for_command
fi
report_ending >&9
echo "${ENDED}$code" >&9
count=0
for status in /proc/[0-9]*/status; do
  [ "$status" = /proc/1/status ] && continue
  [ "$count" -lt 16 ] || break
  name= state=
  while read -r key value rest; do
    case $key in Name:) name=$value ;; State:) state=$value; break ;; esac
  done <"$status"
  case $state in ''|Z|X) continue ;; esac
  printf '${LEFT}%s\\n' "$name" >&9
  count=$((count + 1))
done
echo ${OVER} >&9
exit "$code"
`;
