// Shell functions that tell an exit code from a death by signal.

/**
 * Ruling W20: shell functions that tell an exit code from a death by signal, which `$?` does not. `jobs` does,
 * for a command in the background. A shell has such a command ignore SIGINT and SIGQUIT, which `env` takes back;
 * where it cannot (busybox), `reset_signals` is empty, and the command is to be run in the foreground.
 *
 * bash forgets a job as soon as it was waited for, so there the job is asked for when SIGCHLD comes; outside of
 * its POSIX mode that does not interrupt `wait`.
 */
export const WAIT_FOR_COMMAND = `
state=
reset_signals=--default-signal=INT,QUIT
/usr/bin/env "$reset_signals" true 2>/dev/null || reset_signals=
if [ -n "$BASH_VERSION" ]; then
  set +o posix
  trap 'state="$(jobs)"' CHLD
fi
wait_for_command() {
  while :; do
    wait "$!"; code=$?
    kill -0 "$!" 2>/dev/null || break
  done
}
report_ending() {
  [ -z "$state" ] || printf '%s\\n' "$state"
  jobs
}
`;
