import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {PatchServer} from './patch-server.ts';

/** A server for a script, which has no `PATH`, past the first time. */
function serverFor(script: string): PatchServer {
  const server = new PatchServer('/bin/sh', '-c', script);
  onTestFinished(() => server.close());
  expect(server.take(new AbortController().signal)).toBeUndefined();
  return server;
}

function stageWith(hunks: string, name = 'stage'): string {
  const stage = join(temporaryDirectory(), name);
  mkdirSync(join(stage, 'files'), {recursive: true});
  writeFileSync(join(stage, 'hunks'), hunks);
  return stage;
}

async function ask(server: PatchServer, stage: string, signal = new AbortController().signal) {
  const asked = server.take(signal);
  if (asked === undefined) throw new Error('Expected to be offered the server.');
  return asked(stage);
}

const read = (stage: string, name: string): string => readFileSync(join(stage, 'files', name), 'utf8');

/** Waits for what another process does; ends, as the test has a time-out. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resume => setTimeout(resume, 2));
}

/** Also one that nobody has waited for yet counts as gone. */
function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${Number(pid)}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const WRITES_PARENT = 'echo $PPID >parent; read -r line; printf "%s\\n" "$line" >seen';
const WAITS = 'echo $$ >pid; echo $PPID >parent; while :; do :; done';

test('policy: a program is run in its directory with the hunks as input, again and again by one shell', async () => {
  const server = serverFor(WRITES_PARENT);
  const stages = ['first', 'second'].map(text => stageWith(`${text} \\n\n`, `a "b" $c \\ ${text} `));
  for (const stage of stages) expect(await ask(server, stage)).toBe(true);
  expect(stages.map(stage => read(stage, 'seen'))).toEqual(['first \\n\n', 'second \\n\n']);
  expect(new Set(stages.map(stage => read(stage, 'parent'))).size).toBe(1);
  await server.close();
  expect(existsSync(`/proc/${Number(read(stages[0] ?? '', 'parent'))}`)).toBe(false);
  expect(server.take(new AbortController().signal)).toBeUndefined();
});

test('policy: it sees nothing of our environment', async () => {
  const server = serverFor('export -p >seen');
  const stage = stageWith('');
  expect(await ask(server, stage)).toBe(true);
  const names = [...read(stage, 'seen').matchAll(/^export (\w+)/gm)].map(([, name]) => name);
  expect(names.filter(name => !['PWD', 'OLDPWD', 'SHLVL'].includes(name ?? ''))).toEqual([
    'LC_ALL',
    'PATH',
    'TMPDIR',
  ]);
});

test.each(['exit 1', 'kill -9 $$', 'exec /nonexistent/program'])(
  'policy: that a program failed (%s) is said, and the next one is run',
  async script => {
    const server = serverFor(`[ -e ok ] || ${script}`);
    const stage = stageWith('');
    expect(await ask(server, stage)).toBe(false);
    writeFileSync(join(stage, 'files/ok'), '');
    expect(await ask(server, stage)).toBe(true);
  },
);

test('policy: a directory that is not there, or whose name is two lines, is none to run in', async () => {
  const server = serverFor('exit 0');
  const stage = stageWith('');
  expect(await ask(server, join(stage, 'none'))).toBe(false);
  expect(await ask(server, `${stage}\n${stage}`)).toBe(false);
  expect(await ask(server, stage)).toBe(true);
});

test('W19: a second caller is not offered the server while it is busy', async () => {
  const server = serverFor('exit 0');
  const stage = stageWith('');
  const early = server.take(new AbortController().signal);
  const first = ask(server, stage);
  expect(server.take(new AbortController().signal)).toBeUndefined();
  expect(await early?.(stage)).toBe(false);
  expect(await first).toBe(true);
  expect(server.take(new AbortController().signal)).toBeDefined();
});

test('policy: an abort ends the program and its shell before there is an answer; then there is a new one', async () => {
  const server = serverFor(`[ -e ok ] || { ${WAITS}; }; echo $PPID >parent`);
  const stage = stageWith('');
  const controller = new AbortController();
  const asked = ask(server, stage, controller.signal);
  await until(() => existsSync(join(stage, 'files/parent')) && read(stage, 'parent') !== '');
  const [pid, parent] = [read(stage, 'pid'), read(stage, 'parent')];
  expect([isAlive(pid), isAlive(parent)]).toEqual([true, true]);
  controller.abort();
  expect(await asked).toBe(false);
  await until(() => !isAlive(pid) && !isAlive(parent));
  expect(await ask(server, stage, controller.signal)).toBe(false);
  writeFileSync(join(stage, 'files/ok'), '');
  expect(await ask(server, stage)).toBe(true);
  expect(read(stage, 'parent')).not.toBe(parent);
});

test.each(['while it runs', 'in between'])(
  'policy: a shell that somebody kills %s is no answer, and there is a new one',
  async when => {
    const server = serverFor(`[ -e ok ] && exit; ${when === 'in between' ? WRITES_PARENT : WAITS}`);
    const stage = stageWith('x\n');
    const asked = ask(server, stage);
    await until(() => existsSync(join(stage, 'files/parent')) && read(stage, 'parent') !== '');
    if (when === 'in between') expect(await asked).toBe(true);
    const parent = Number(read(stage, 'parent'));
    process.kill(when === 'in between' ? parent : -parent, 'SIGKILL');
    if (when !== 'in between') expect(await asked).toBe(false);
    writeFileSync(join(stage, 'files/ok'), '');
    // The first one may meet the shell that is gone.
    while (!(await ask(server, stage))) expect(isAlive(String(parent))).toBe(false);
  },
);

test('policy: there is no answer before the program has ended, whatever becomes of its shell', async () => {
  const server = serverFor('echo $PPID >parent; until [ -e go ]; do :; done; echo >done');
  const stage = stageWith('');
  const asked = ask(server, stage).then(answer => ({answer, isDone: existsSync(join(stage, 'files/done'))}));
  await until(() => existsSync(join(stage, 'files/parent')) && read(stage, 'parent') !== '');
  process.kill(Number(read(stage, 'parent')), 'SIGKILL');
  await until(() => !isAlive(read(stage, 'parent')));
  writeFileSync(join(stage, 'files/go'), '');
  expect(await asked).toEqual({answer: false, isDone: true});
});

test('policy: an idle shell does not keep this process running', async () => {
  const held = () => process.getActiveResourcesInfo().filter(name => /^(?:Pipe|Process)Wrap$/.test(name));
  const server = serverFor('exit 0');
  const before = held().length;
  expect(await ask(server, stageWith(''))).toBe(true);
  expect(held().length).toBeLessThanOrEqual(before);
});
