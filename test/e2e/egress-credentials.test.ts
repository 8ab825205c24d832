// X1: a secret that the gate adds to the requests for one host, so that no command holds it.
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {openEgressWorld} from '../support/open-egress-world.ts';

const SECRET = 'pk_7Yb2Qw9Zt4Lm1Xc8';
const CREDENTIAL = {env: 'REGISTRY_TOKEN', prefix: 'Bearer '};
const ENV = {REGISTRY_TOKEN: SECRET};

/** Says what it was sent, without the secret. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  let length = 0;
  request.on('data', chunk => {
    length += chunk.length;
  });
  request.on('end', () => {
    const isKnown = request.headers.authorization === `Bearer ${SECRET}`;
    response.end(`${request.method} ${request.url} ${isKnown ? 'known' : 'stranger'} ${length}\n`);
  });
}

test('X1 a host with a credential gets it, by https alone, and neither command, log nor answer has it', {
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({serve: echo, credential: CREDENTIAL, env: ENV});
  const ran = await world.run(
    [
      `curl -sS ${world.secure}/one ${world.secure}/two`,
      `curl -sS -H 'Authorization: Bearer mine' -d hello ${world.secure}/three`,
      `head -c 300000 /dev/zero | curl -sS -H 'Transfer-Encoding: chunked' --data-binary @- ${world.secure}/four`,
      `curl -sS ${world.plain}/five`,
      'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -c "pk[_]7Y\\|REGISTRY[_]"',
      'grep -c "pk[_]7Y" /run/forge-egress/ca.pem',
    ].join('; '),
  );
  expect(ran.data).toMatchObject({
    stdout:
      'GET /one known 0\nGET /two known 0\nPOST /three known 5\nPOST /four known 300000\nGET /five stranger 0\n0\n0\n',
    stderr: '',
  });
  const connections = world.events('egress_connection');
  expect(connections.map(({reason}) => reason)).toEqual([
    ...Array(3).fill('Allowed by tools.run.egress.allow[0], with tools.run.egress.credentials[0].'),
    'Allowed by tools.run.egress.allow[1].',
  ]);
  expect(Number(connections[2]?.['bytes_up'])).toBeGreaterThan(300_000);
  const kept = readdirSync(world.runDirectory, {recursive: true, withFileTypes: true})
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
  expect(kept).toContain('tools.run.egress.credentials[0]');
  expect(kept + JSON.stringify(ran)).not.toContain(SECRET);
  expect(execFileSync('ps', ['-eo', 'args'], {encoding: 'utf8'})).not.toContain(SECRET);
});

test('X1 a host that cannot prove who it is gets no request, and the answer says so', {
  tags: 'slow',
}, async () => {
  let requests = 0;
  const world = await openEgressWorld({
    serve: (_, response) => {
      requests += 1;
      response.end();
    },
    credential: CREDENTIAL,
    env: ENV,
    trusted: false,
  });
  const ran = await world.run(`curl -sS ${world.secure}/`);
  expect(ran.data).toMatchObject({note: expect.stringContaining('was not spoken to by TLS')});
  expect(requests).toBe(0);
});

test.each([
  ['which is not set', {env: 'NOBODY_SET_THIS'}, {}],
  ['tools.run.inherit_env', {env: 'LANG'}, {LANG: 'C'}],
  ['either "env"', {}, {}],
])('X1 a credential stops the start: %s', async (message, credential, env) => {
  await expect(openEgressWorld({serve: echo, credential, env})).rejects.toThrow(message);
});

test('X1 a credential for a host that is not allowed stops the start, and the message does not say it', async () => {
  const opening = openEgressWorld({serve: echo, credential: CREDENTIAL, env: ENV, allowRegistry: false});
  await expect(opening).rejects.toThrow('tools.run.egress.allow does not name');
  await expect(opening).rejects.not.toThrow(SECRET);
});
