import {spawnSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {commandScript, INIT, STARTED} from './bubblewrap-scripts.ts';

/** Process 1 of a sandbox with this on its standard input: what it printed, and the first line of its report. */
function init(script: string): {
  readonly out: string;
  readonly started: boolean;
  readonly code: number | null;
} {
  const {status, output} = spawnSync('/bin/sh', ['-c', INIT, 'sh', '1024', '0', '0', '', ''], {
    input: script,
    stdio: ['pipe', 'ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [, out, report] = [0, 4, 9].map(descriptor => String(output[descriptor] ?? ''));
  return {out: out ?? '', started: report?.split('\n').includes(STARTED) ?? false, code: status};
}

const SCRIPT = commandScript({
  command: `printf '%s|' "$A" "$B" 'it'"'"'s'; exit 3`,
  env: {A: `'"$(echo no)\n'`, B: 'b c'},
});

test('policy: the command and its variables arrive as they are', () => {
  expect(init(SCRIPT)).toEqual({out: `'"$(echo no)\n'|b c|it's|`, started: true, code: 3});
});

test('policy: half a script of a host that died runs half a command never', {tags: 'slow'}, () => {
  for (let length = 0; length < SCRIPT.length - 1; length++) {
    const {out, started} = init(SCRIPT.slice(0, length));
    expect({length, out, started}).toEqual({length, out: '', started: false});
  }
});
