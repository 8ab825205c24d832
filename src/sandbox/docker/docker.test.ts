import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import fs, {mkdirSync, rmSync, symlinkSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import type {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import fc from 'fast-check';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {needs} from '../../../test/support/parts.ts';
import {breakPipes, startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {STANDARD_DIRECTORIES} from '../../system/find-program.ts';
import {DockerClient, dockerClientEnv} from './client.ts';
import {SUPERVISE} from './scripts.ts';
import {SentinelStream} from './sentinel-stream.ts';

/** A shell in the place of the client. */
const client = new DockerClient('/bin/sh', {DOCKER_HOST: 'unix:///x', SECRET: 'x'}, []);
const ask = (script: string, timeoutMs = 5000) => client.ask(['-c', script], timeoutMs);

test('policy: an answer is what the client says, in the root, with its own environment alone', async () => {
  const {ok, stdout, stderr} = await ask('pwd; echo "$DOCKER_HOST [$SECRET]"; echo warning >&2');
  expect({ok, stdout, stderr}).toEqual({ok: true, stdout: '/\nunix:///x []\n', stderr: 'warning\n'});
  expect(await ask(':')).toEqual({ok: true, stdout: '', stderr: ''});
});

test('policy: a client that fails is told by its words, and without any by what became of it', async () => {
  expect(await ask('echo half; echo no daemon >&2; exit 1')).toEqual({
    ...{ok: false, stdout: 'half\n', stderr: 'no daemon\n'},
  });
  expect(await ask('exit 3')).toEqual({
    ok: false,
    stdout: '',
    stderr: expect.stringContaining('Command failed'),
  });
  const missing = new DockerClient('/nonexistent/docker', {}, []);
  expect(await missing.ask([], 5000)).toEqual({
    ...{ok: false, stdout: '', stderr: expect.stringContaining('ENOENT')},
  });
});

test('policy: a client that says nothing in time, or too much, is given up', async () => {
  expect(await ask('exec sleep 600', 50)).toMatchObject({ok: false});
  expect(await ask('head -c 1048577 /dev/zero')).toMatchObject({
    ...{ok: false, stderr: expect.stringContaining('maxBuffer')},
  });
  expect(await ask('head -c 1048576 /dev/zero')).toMatchObject({ok: true});
});

test('policy: one that stays reads what we write to it, or nothing', async () => {
  const answering = client.start(['-c', 'pwd; echo "$DOCKER_HOST"; cat'], true);
  answering.stdin?.end('heard\n');
  expect(await text(answering.stdout as Readable)).toBe('/\nunix:///x\nheard\n');
  const deaf = client.start(['-c', 'cat; echo end'], false);
  expect(deaf.stdin).toBeNull();
  expect(await text(deaf.stdout as Readable)).toBe('end\n');
});

test('policy: an answer whose pipe broke is none, also of a client that says it is well', async () => {
  const children = startedChildren();
  const asked = ask('echo half');
  for (const child of children) breakPipes(child);
  expect(await asked).toMatchObject({ok: false, stderr: 'read ECONNRESET'});
});

test('policy: the docker client gets what names its daemon, and no directory that commands write to', () => {
  const [workspace, home] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(home, '.docker'));
  const settings = {DOCKER_HOST: 'unix:///x', DOCKER_CONTEXT: 'c', SECRET: 'x'};
  const path = STANDARD_DIRECTORIES.join(':');
  expect(
    dockerClientEnv({...settings, HOME: home, PATH: `${home}:${workspace}:relative`}, [workspace]),
  ).toEqual({
    ...{DOCKER_HOST: 'unix:///x', DOCKER_CONTEXT: 'c', HOME: home, DOCKER_CONFIG: join(home, '.docker')},
    PATH: `${path}:${home}`,
  });
  const inside = {HOME: workspace, DOCKER_CERT_PATH: workspace, XDG_RUNTIME_DIR: join(workspace, 'missing')};
  const bare = dockerClientEnv(inside, [workspace]);
  expect(bare).toEqual({DOCKER_CONFIG: NO_SETTINGS, PATH: path});
  expect(Object.keys(bare)).toHaveLength(2);
});

const NO_SETTINGS = '/proc/forge-tools-none';

test('policy: all that names a daemon is handed on, and the directories of it that commands cannot write to', () => {
  const [workspace, other, place] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const texts = {DOCKER_HOST: 'h', DOCKER_CONTEXT: 'c', DOCKER_TLS_VERIFY: '1', DOCKER_API_VERSION: '1.40'};
  const paths = {DOCKER_CERT_PATH: place, HOME: place, XDG_RUNTIME_DIR: place};
  expect(dockerClientEnv({...texts, ...paths, DOCKER_CONFIG: place}, [workspace, other])).toEqual({
    ...{...texts, ...paths, DOCKER_CONFIG: place, PATH: STANDARD_DIRECTORIES.join(':')},
  });
  for (const tree of [workspace, other]) {
    expect(dockerClientEnv({DOCKER_CERT_PATH: tree, DOCKER_CONFIG: tree}, [workspace, other])).toEqual({
      ...{DOCKER_CONFIG: NO_SETTINGS, PATH: STANDARD_DIRECTORIES.join(':')},
    });
  }
});

test.each(['config.json', 'cli-plugins', 'contexts'])(
  'policy: settings whose %s leads to where commands write are none',
  name => {
    const [workspace, config] = [temporaryDirectory(), temporaryDirectory()];
    const settings = () => dockerClientEnv({DOCKER_CONFIG: config}, [workspace])['DOCKER_CONFIG'];
    mkdirSync(join(config, 'other'));
    symlinkSync(join(config, 'other'), join(config, name));
    expect(settings()).toBe(config);
    rmSync(join(config, name));
    // Also where nothing is there yet.
    symlinkSync(join(workspace, 'later'), join(config, name));
    expect(settings()).toBe(NO_SETTINGS);
  },
);

test.each(['lstatSync', 'readdirSync', 'realpathSync'] as const)(
  'policy: what the system does not let us look at (%s) is no place to trust, and a bug is thrown',
  name => {
    const [workspace, config] = [temporaryDirectory(), temporaryDirectory()];
    const settings = () => dockerClientEnv({DOCKER_CONFIG: config}, [workspace])['DOCKER_CONFIG'];
    let error: Error = Object.assign(new Error('EACCES'), {code: 'EACCES', syscall: 'open'});
    const original = fs[name] as (...args: unknown[]) => unknown;
    const spy = vi.spyOn(fs, name).mockImplementation(((...args: unknown[]) => {
      // The settings themselves can be looked at, what is in them cannot.
      if (String(args[0]) !== config) throw error;
      return original(...args);
    }) as never);
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    // Where there are no plugins to list, there is nothing to look at.
    expect(settings()).toBe(name === 'lstatSync' ? NO_SETTINGS : config);
    mkdirSync(join(config, 'contexts'));
    expect(settings()).toBe(name === 'readdirSync' ? config : NO_SETTINGS);
    error = new Error('A bug.');
    expect(settings).toThrow('A bug.');
  },
);

test('ruling W8: a supervisor that is not process 1 of a container ends nothing, and itself', () => {
  const {status, stdout} = spawnSync('/bin/sh', ['-c', SUPERVISE], {input: '0\n', encoding: 'utf8'});
  expect({status, stdout}).toEqual({status: 125, stdout: ''});
});

/** A program in the background that is no copy of the shell any more. */
const sleeping = (seconds: number): string =>
  `sleep ${seconds} & until read -r name </proc/$!/comm && [ "$name" = sleep ]; do :; done`;

/** A supervisor in a namespace of processes, as in a container; lines of its answers, one after another. */
function supervise(before: string) {
  const namespace = [
    '--unshare-pid',
    '--unshare-user',
    '--as-pid-1',
    '--die-with-parent',
    '--dev-bind',
    '/',
    '/',
  ];
  const child = spawn('bwrap', [...namespace, '--proc', '/proc', '/bin/sh', '-c', `${before}\n${SUPERVISE}`]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  /** All lines up to this one. */
  const until = async (last: string) => {
    const said: string[] = [];
    while (said.at(-1) !== last) said.push(String((await lines.next()).value));
    return said;
  };
  return {child, until};
}

describe('the supervisor of a container', needs('bubblewrap'), () => {
  test('ruling W8: for each line it ends every other process and says which they were', async () => {
    const {child, until} = supervise(`${sleeping(600)}\n${sleeping(601)}`);
    expect(await until('ready')).toEqual([expect.stringMatching(/^oom \d+$/), 'ready']);
    child.stdin.write('0\n');
    expect(await until('swept')).toEqual([
      ...['left sleep', 'left sleep', expect.stringMatching(/^oom \d+$/), 'swept'],
    ]);
    child.stdin.write('0\n');
    expect(await until('swept')).toEqual([expect.stringMatching(/^oom \d+$/), 'swept']);
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  });

  test('ruling W8: the process that reports the end of a command is ended and not named', async () => {
    const {child, until} = supervise('sleep 600 & echo "$!"');
    const [reporter] = await until('ready');
    child.stdin.write(`${reporter}\n`);
    expect(await until('swept')).toEqual([expect.stringMatching(/^oom \d+$/), 'swept']);
  });
});

const SENTINEL = '0123456789abcdef';

function read(chunks: readonly string[]) {
  let text = '';
  let reporter: number | undefined;
  const stream = new SentinelStream(
    SENTINEL,
    chunk => {
      text += chunk.toString('latin1');
    },
    by => {
      reporter = by;
    },
  );
  for (const chunk of chunks) stream.write(Buffer.from(chunk, 'latin1'));
  const passed = text;
  stream.finish();
  return {
    passed,
    jobs: stream.jobs,
    text,
    reporter,
    started: stream.started,
    exitCode: stream.exitCode,
    words: stream.words,
  };
}

test('policy: what is between the marks and after them is the output, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.string({maxLength: 60}),
      fc.string({maxLength: 20}),
      fc.array(fc.integer({min: 1, max: 30})),
      (inside, after, cuts) => {
        const latin = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
        let whole = `${SENTINEL}${latin(inside)}${SENTINEL}137 42 [1] + Killed;${latin(after)}`;
        const chunks: string[] = [];
        for (const cut of cuts) {
          chunks.push(whole.slice(0, cut));
          whole = whole.slice(cut);
        }
        chunks.push(whole);
        expect(read(chunks)).toMatchObject({
          jobs: ['[1] + Killed'],
          passed: latin(inside) + latin(after),
          text: latin(inside) + latin(after),
          reporter: 42,
          started: true,
          exitCode: 137,
          words: '',
        });
      },
    ),
  );
});

test('policy: without the mark nothing was started, and the words say why', () => {
  expect(read(['Error: No such ', 'container'])).toMatchObject({
    started: false,
    words: 'Error: No such container',
    text: '',
  });
});

test('policy: a command that was killed has no exit code of its own', () => {
  expect(read([`${SENTINEL}abc`])).toMatchObject({started: true, exitCode: undefined, text: 'abc'});
});

test('policy: a command that writes the mark itself gets its output and no say', () => {
  const forged = read([`${SENTINEL}${SENTINEL}no report at all, but text`, 'more', `${SENTINEL}0 1 ;`]);
  expect(forged).toMatchObject({exitCode: undefined, reporter: undefined});
  expect(forged.text).toContain('no report at all, but textmore');
});

test('policy: of the words that come instead of the mark 4096 bytes are kept', () => {
  expect(read(['x'.repeat(5000), 'y']).words).toBe('x'.repeat(4096));
  expect(read([SENTINEL.slice(0, 15)])).toMatchObject({started: false, words: SENTINEL.slice(0, 15)});
  expect(read([`x${SENTINEL}`])).toMatchObject({started: false, words: `x${SENTINEL}`});
});

test('policy: what a command wrote goes on at once, but for what may be the beginning of a mark', () => {
  expect(read([`${SENTINEL}${'a'.repeat(20)}`]).passed).toBe('a'.repeat(5));
  expect(read([SENTINEL, 'b', 'c'.repeat(14)]).passed).toBe('');
  expect(read([SENTINEL, 'b', 'c'.repeat(15)]).passed).toBe('b');
  expect(read([`${SENTINEL}a${SENTINEL}7 `])).toMatchObject({passed: 'a', text: `a${SENTINEL}7 `, jobs: []});
});

test.each(['', '1', '137', '137 ', '1 1', '1 1234567890', '1 1 ', `1 1 ${'j'.repeat(507)}`])(
  'policy: behind a mark, %j may become a report',
  behind => {
    expect(read([`${SENTINEL}a${SENTINEL}${behind}`])).toMatchObject({
      ...{passed: 'a', text: `a${SENTINEL}${behind}`, exitCode: undefined, reporter: undefined},
    });
  },
);

test.each([
  'x',
  'x1',
  '1x',
  '1234',
  '1 x',
  '1  ',
  'x1 1',
  'x1 1 ;',
  '1 12345678901',
  '1 1x',
  '1 1;',
  `1 1 ${'j'.repeat(508)}`,
])('policy: behind a mark, %j is none, and a mark that comes later neither', behind => {
  const text = `a${SENTINEL}${behind}`;
  expect(read([`${SENTINEL}${text}`])).toMatchObject({passed: text, exitCode: undefined, jobs: []});
  expect(read([`${SENTINEL}${text}`, `b${SENTINEL}0 1 ;`])).toMatchObject({
    ...{passed: `${text}b${SENTINEL}0 1 ;`, exitCode: undefined, reporter: undefined},
  });
});

test('policy: the report says the code, who reports, and each line of the jobs', () => {
  expect(read([`${SENTINEL}a${SENTINEL}0 1234567890 x\n[1] + Done;b;`])).toEqual({
    ...{passed: 'ab;', text: 'ab;', started: true, words: ''},
    ...{exitCode: 0, reporter: 1_234_567_890, jobs: ['x', '[1] + Done']},
  });
  expect(read([`${SENTINEL}${SENTINEL}255 2 ;`])).toMatchObject({exitCode: 255, reporter: 2, jobs: ['']});
});
