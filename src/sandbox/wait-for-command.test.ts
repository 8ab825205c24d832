import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {diedBySignal} from './child/died-by-signal.ts';
import {WAIT_FOR_COMMAND} from './wait-for-command.ts';

const SHELLS = ['/bin/dash', '/bin/bash'].filter(existsSync);

/** The way a sandbox does it, in a shell that was started as `sh`. */
function exitStatusFrom(shell: string, command: string) {
  const script = `${WAIT_FOR_COMMAND}
/usr/bin/env "$reset_signals" /bin/sh -c "$command" &
wait_for_command
report_ending
echo "code $code"`;
  const env = {command, PATH: '/usr/bin:/bin'};
  const {stdout} = spawnSync(shell, ['-c', script], {argv0: 'sh', encoding: 'utf8', env, timeout: 10_000});
  const lines = stdout.split('\n');
  return {bySignal: diedBySignal(lines), code: Number(/^code (\d+)$/m.exec(stdout)?.[1])};
}

describe.each(SHELLS)('%s', shell => {
  test.each([
    [':', 0],
    ['exit 3', 3],
    ['exit 129', 129],
    ['exit 130', 130],
    ['exit 137', 137],
    ['exit 141', 141],
    ['exit 255', 255],
    ['trap "exit 9" INT; kill -INT $$; sleep 1', 9],
    ['sh -c "kill -KILL \\$\\$"; exit $?', 137],
    // Orphans end before it.
    ['(sleep 0.02 &); (sleep 0.04 &); sleep 0.1; exit 139', 139],
    ['exec sh -c "exit 143"', 143],
  ])('W20: %s is an exit code', (command, code) => {
    expect(exitStatusFrom(shell, command)).toEqual({bySignal: false, code});
  });

  test.each([
    ['kill -KILL $$', 137],
    ['kill -SEGV $$', 139],
    ['kill -TERM $$; sleep 1', 143],
    ['kill -INT $$', 130],
    ['kill -QUIT $$', 131],
    ['kill -PIPE $$', 141],
    ['exec sh -c "kill -ABRT \\$\\$"', 134],
  ])('W20: %s is a death by signal', (command, code) => {
    expect(exitStatusFrom(shell, command)).toEqual({bySignal: true, code});
  });
});

test('W20: a shell that says nothing leaves it open', () => {
  expect(diedBySignal(['started', 'left sleep', ''])).toBeUndefined();
  expect(diedBySignal(['[1]+  Running                 sh'])).toBeUndefined();
  expect(diedBySignal(['[1]+  Running   sh', '[1]+  Exit 137   sh'])).toBe(false);
});
