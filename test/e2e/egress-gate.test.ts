// X1: a secret that the gate adds to the requests for one host, so that no command holds it.
// X1: what the gate counts, ends and asks about.
import {execFileSync} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {ApprovalAnswer, ApprovalQuestion} from '../../src/index.ts';
import {openEgressWorld} from '../support/open-egress-world.ts';
import {needs} from '../support/parts.ts';

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
  ...needs('bubblewrap'),
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
  ...needs('bubblewrap'),
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

const MIB = 1_048_576;
/** Read at once, as in `PieceReader`. */
const PIECE_BYTES = 262_144;

const HELLO = (_: unknown, response: {end: (text: string) => unknown}): void => {
  response.end('hello');
};
const GET = (origin: string) => `curl -sS --cacert ca.pem ${origin}/`;

test(
  'X1 without a host that is allowed there is no proxy, no socket and no process',
  needs('bubblewrap'),
  async () => {
    const world = await openEgressWorld({serve: HELLO, egress: {allow: []}});
    const ran = await world.run('env | grep -ci proxy; ls /run; ls /proc | grep -c "^[0-9]"');
    expect(ran.data).toMatchObject({stdout: expect.stringMatching(/^0\n[2-5]\n$/)});
  },
);

describe.each([
  ['bubblewrap', 'bubblewrap'],
  ['docker', 'Docker'],
] as const)('in %s', (sandbox, part) => {
  test('X1 the relay is no process of the command, its socket cannot be changed, and both go', {
    ...needs(part),
    tags: 'slow',
  }, async () => {
    const world = await openEgressWorld({serve: HELLO, sandbox});
    // A child is the shell until it is the program.
    const asleep = 'until grep -q sleep /proc/$!/comm; do :; done';
    const ran = await world.run(`sleep 300 & ${asleep}; ls /run/forge-egress`);
    expect(ran.data).toMatchObject({left_running: ['sleep'], stdout: expect.stringContaining('socket')});
    const again = await world.run(
      'rm -f /run/forge-egress/socket; mv /run/forge-egress/socket /tmp; ln -s /tmp/x /run/forge-egress/y; ls /run/forge-egress | wc -w',
    );
    expect(again.data).toMatchObject({stdout: sandbox === 'docker' ? '4\n' : '2\n'});
    await world.close();
    expect(readdirSync(world.sockets)).toEqual([]);
  });
});

test('X1 what a command loads and sends is whole, also where it is slow to take it', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const content = randomBytes(32 * 1024 * 1024);
  const world = await openEgressWorld({
    serve: async (request, response) => {
      const hash = createHash('sha256');
      for await (const chunk of request) hash.update(chunk);
      if (request.method === 'POST') response.end(hash.digest('hex'));
      else response.end(content);
    },
  });
  const loaded = `${GET(world.secure)} | { sleep 0.5; tee copy | sha256sum; }`;
  const sent = `${GET(world.secure)} --data-binary @copy`;
  const ran = await world.run(`${loaded}; ${sent}`);
  const hash = createHash('sha256').update(content).digest('hex');
  expect(ran.data).toMatchObject({stdout: `${hash}  -\n${hash}`, stderr: ''});
});

test('X1 bytes are counted, and end the connection where they are more than max_mb', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({
    serve: (_, response) => response.end(Buffer.alloc(3_000_000)),
    egress: {max_mb: 1},
  });
  const ran = await world.run(`${GET(world.secure)} | wc -c; ${GET(world.secure)}`);
  expect(world.text(ran)).toContain('tools.run.egress.max_mb');
  const [first, second] = world.events('egress_connection');
  expect(first).toMatchObject({decision: 'refused', reason: expect.stringContaining('max_mb')});
  expect(Number(first?.['bytes_down'])).toBeGreaterThan(900_000);
  // What is read at once may be more than is left; it is not passed on.
  expect(Number(first?.['bytes_down'])).toBeLessThanOrEqual(MIB + PIECE_BYTES);
  expect(Number.parseInt(String((ran.data as {stdout: string}).stdout), 10)).toBeLessThanOrEqual(MIB);
  expect(second).toMatchObject({decision: 'refused', address: ''});
});

test('X1 connections are counted, those that are refused too, and the log stays short', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({serve: HELLO, egress: {max_connections: 3}});
  const ran = await world.run(
    `for i in 1 2; do curl -s https://evil.test/; done; ${GET(world.secure)}; for i in 1 2 3 4; do ${GET(world.secure)}; done`,
  );
  expect(ran.data).toMatchObject({stdout: 'hello', note: expect.stringContaining('max_connections')});
  const decisions = world.events('egress_connection').map(({decision}) => decision);
  expect(decisions.sort()).toEqual(['allowed', 'refused', 'refused', 'refused']);
  // The next command has its own.
  expect((await world.run(GET(world.secure))).data).toMatchObject({stdout: 'hello'});
});

test('X1 a connection that lasts too long is ended', {...needs('bubblewrap'), tags: 'slow'}, async () => {
  const world = await openEgressWorld({serve: () => {}, egress: {max_connection_sec: 1}});
  const ran = await world.run(GET(world.secure));
  expect(ran.data).toMatchObject({note: expect.stringContaining('max_connection_sec')});
});

test('X1 nothing of a command is at the gate when it has ended', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({serve: (_, response) => void response.write('some')});
  await world.run(`${GET(world.secure)} -N >answer & until [ -s answer ]; do sleep 0.01; done`);
  expect(world.events('egress_connection')).toHaveLength(1);
  expect(world.events('tool_call_finished')).toHaveLength(1);
});

function approver(answer: ApprovalAnswer, asked: ApprovalQuestion[]) {
  return {
    ask: async (question: ApprovalQuestion) => {
      asked.push(question);
      return question.action === 'egress' ? answer : {answer: 'once' as const};
    },
  };
}

const hostsOf = (asked: readonly ApprovalQuestion[]) =>
  asked.filter(({action}) => action === 'egress').map(({summary}) => summary);

test('X1 a new host is asked about, once for a command, and the answer holds for the session', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const asked: ApprovalQuestion[] = [];
  const world = await openEgressWorld({
    serve: HELLO,
    allowRegistry: false,
    profile: 'guarded',
    approver: approver({answer: 'session'}, asked),
  });
  const ran = await world.run(`${GET(world.secure)} & ${GET(world.secure)} & wait; ${GET(world.secure)}`);
  expect(ran.data).toMatchObject({stdout: 'hellohellohello'});
  expect((await world.run(GET(world.secure))).data).toMatchObject({stdout: 'hello'});
  expect(hostsOf(asked)).toEqual([`let the command reach ${world.authority}`]);
  expect(world.events('approval_decided').filter(({action}) => action === 'egress')).toMatchObject([
    {decision: 'allowed', by: 'session'},
    {decision: 'allowed', by: 'session grant'},
  ]);
});

test('X1 an answer with a rule holds for the host; "no" is told to the command and the model', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const asked: ApprovalQuestion[] = [];
  const rule = {
    tool: 'egress',
    decision: 'allow',
    host: 'registry.test',
  } as const;
  const ruled = await openEgressWorld({
    serve: HELLO,
    allowRegistry: false,
    profile: 'guarded',
    approver: approver({answer: 'session-rule', rule}, asked),
  });
  expect((await ruled.run(GET(ruled.secure))).data).toMatchObject({stdout: 'hello'});
  expect((await ruled.run(GET(ruled.plain))).data).toMatchObject({stdout: 'hello'});
  expect(hostsOf(asked)).toHaveLength(1);

  const refusing = await openEgressWorld({
    serve: HELLO,
    allowRegistry: false,
    profile: 'guarded',
    approver: approver({answer: 'refuse', reason: 'not that one'}, []),
  });
  const ran = await refusing.run(GET(refusing.secure));
  expect(ran.data).toMatchObject({exit_code: 56, note: expect.stringContaining('not that one')});
});

test('X1 where nobody can be asked, no mode opens a host, and the answer says what would', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({serve: HELLO, allowRegistry: false, profile: 'trusted'});
  const ran = await world.run(GET(world.secure));
  expect(ran.data).toMatchObject({exit_code: 56});
  expect(world.text(ran)).toMatch(
    /forge-tools approve \S+ --run-dir .* or add "registry\.test:\d+" to tools\.run\.egress\.allow/,
  );
  // A rule of the configuration is an answer too.
  const ruled = await openEgressWorld({
    serve: HELLO,
    allowRegistry: false,
    approval: {rules: [{tool: 'egress', decision: 'allow', host: 'registry.test'}]},
  });
  expect((await ruled.run(GET(ruled.secure))).data).toMatchObject({stdout: 'hello'});
});

test('X1 wrong settings stop the start', async () => {
  await expect(openEgressWorld({serve: HELLO, egress: {allow: ['10.0.0.1']}})).rejects.toThrow(
    'tools.run.egress.allow[0]',
  );
});
