import type {Readable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {expect, test} from 'vitest';
import {breakPipes, startedChildren} from '../../../test/support/started-children.ts';
import {DockerClient} from './docker-client.ts';

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
