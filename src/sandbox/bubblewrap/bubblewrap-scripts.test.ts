import {spawnSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {
  BECOME_IF_PLACED,
  BECOME_WITH_PIPES,
  commandScript,
  INIT,
  STAY_WITH_PIPES,
} from './bubblewrap-scripts.ts';

/** Process 1 of a sandbox with this on its standard input: what it printed, and the first line of its report. */
function init(
  script: string,
  relay = '',
): {
  readonly out: string;
  readonly started: boolean;
  readonly code: number | null;
  readonly hasNoRelay: boolean;
} {
  const {status, output} = spawnSync('/bin/sh', ['-c', INIT, 'sh', '1024', '0', '0', relay, ''], {
    input: script,
    stdio: ['pipe', 'ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [, out, report] = [0, 4, 9].map(descriptor => String(output[descriptor] ?? ''));
  const lines = report?.split('\n') ?? [];
  const [started, hasNoRelay] = [lines.includes('started'), lines.includes('no relay')];
  return {out: out ?? '', started, code: status, hasNoRelay};
}

const SCRIPT = commandScript({
  command: `printf '%s|' "$A" "$B" 'it'"'"'s'; exit 3`,
  env: {A: `'"$(echo no)\n'`, B: 'b c'},
});

test('policy: the command and its variables arrive as they are', () => {
  expect(init(SCRIPT)).toEqual({
    ...{out: `'"$(echo no)\n'|b c|it's|`, started: true, code: 3, hasNoRelay: false},
  });
});

test('X1: a relay that does not start is in the report', () => {
  expect(init(SCRIPT, 'printf ready')).toMatchObject({code: 3, hasNoRelay: false});
  expect(init(SCRIPT, 'printf steady')).toMatchObject({code: 3, hasNoRelay: true});
});

test('W8: a directory that cannot be entered is the end of a command, and is said', () => {
  const script = commandScript({command: 'echo ran', env: {}, directory: "it's gone"});
  expect(init(script)).toMatchObject({out: '', started: true, code: 126});
});

test.each([
  ['is the program itself', BECOME_WITH_PIPES, true],
  ['stays for the program, where it is process 1', STAY_WITH_PIPES, false],
])('W8: what makes pipes for the output %s', (_, script, becomes) => {
  const program = '[ -p /dev/fd/4 ] && [ -p /dev/fd/5 ] && echo $$ >&4; echo out >&4; echo err >&5; exit 3';
  const {status, output, pid} = spawnSync('/bin/sh', ['-c', script, 'sh', '/bin/sh', '-c', program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [number, ...out] = String(output[1]).split('\n');
  expect({status, out, err: String(output[6]), words: String(output[2])}).toEqual({
    ...{status: 3, out: ['out', ''], err: 'err\n', words: ''},
  });
  expect(Number(number) === pid).toBe(becomes);
});

test('review R1: between two bubblewraps nothing goes on in another workspace', () => {
  const {status, output} = spawnSync(
    '/bin/sh',
    ['-c', BECOME_IF_PLACED, 'sh', '1:1', '/bin/sh', '-c', 'echo went on'],
    {stdio: ['ignore', 'pipe', 'ignore', ...Array<'ignore'>(6).fill('ignore'), 'pipe']},
  );
  expect({status, out: String(output[1]), report: String(output[9])}).toEqual({
    ...{status: 0, out: '', report: expect.stringMatching(/^at (?:\d+:\d+)?\nready\n$/)},
  });
});

test('policy: half a script of a host that died runs half a command never', {tags: 'slow'}, () => {
  for (let length = 0; length < SCRIPT.length - 1; length++) {
    const {out, started} = init(SCRIPT.slice(0, length));
    expect({length, out, started}).toEqual({length, out: '', started: false});
  }
});
