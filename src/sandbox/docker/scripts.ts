// The shell scripts that run inside a container.
import {START_RELAY} from '../egress-relay.ts';
import {WAIT_FOR_COMMAND} from '../wait-for-command.ts';

/**
 * A container: `sh -c SUPERVISE`. Its process 1 reaps orphans and waits for the supervisor, which
 * answers each line on its standard input by ending everything else and reporting what that was, but
 * for the process that the line names. When the input ends, because the host closed it or died, so
 * does the supervisor, process 1, and the container. The supervisor runs as another user than the
 * commands where it can; killed or stopped by one, it takes the container with it or fails to answer.
 * It forks nothing, so that it works when the container is out of processes.
 */
export const SUPERVISE = `
report_memory() {
  killed=0
  for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] && while read -r key value; do
      [ "$key" = oom_kill ] && killed=$value
    done <"$file"
  done
  echo "oom $killed"
}
supervise() {
  read -r self rest </proc/self/stat
  report_memory
  echo ready
  while read -r reporter; do
    count=0
    for status in /proc/[0-9]*/status; do
      case $status in /proc/1/status|"/proc/$self/status"|"/proc/$reporter/status") continue ;; esac
      [ "$count" -lt 16 ] || break
      name= state=
      while read -r key value rest; do
        case $key in Name:) name=$value ;; State:) state=$value; break ;; esac
      done 2>/dev/null <"$status"
      case $state in ''|Z|X) continue ;; esac
      echo "left $name"
      count=$((count + 1))
    done
    tries=0
    while kill -s KILL -- -1 2>/dev/null && [ "$tries" -lt 100000 ]; do tries=$((tries + 1)); done
    report_memory
    if kill -s 0 -- -1 2>/dev/null; then echo stuck; else echo swept; fi
  done
}
# In a namespace that is not ours, everything else would be the host.
[ "$$" = 1 ] || exit 125
exec 3<&0
supervise <&3 3<&- &
exec 3<&- </dev/null
wait "$!"
`;

/**
 * What is executed in a container: `sh -c START sh RELAY PROGRAM ARG... <MARK`. The mark is not in the
 * arguments, which every process of the same user can read in /proc. The first mark tells a command that was started from a client or daemon that failed before. The second one says that it has ended,
 * which the client does only when no process holds its output open any more, and how (ruling W20).
 */
export const START = `
unset mark
IFS= read -r mark
exec </dev/null
relay=$1
shift
${START_RELAY}
start_relay "$relay" || { echo 'The relay of the way out (tools.run.egress) did not start.' >&2; exit 125; }
${WAIT_FOR_COMMAND}
printf %s "$mark" >&2
exec 5>&2 2>/dev/null
if [ -z "$reset_signals" ]; then
  "$@" 2>&5 5>&-
  code=$?
else
  /usr/bin/env "$reset_signals" "$@" 2>&5 5>&- &
  wait_for_command
fi
printf '%s%s %s ' "$mark" "$code" "$$" >&5
report_ending >&5
printf ';' >&5
exit "$code"
`;
