import {execFile} from 'node:child_process';
import {chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {type AddressInfo, createServer} from 'node:net';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openSandbox} from '../../test/support/open-sandbox.ts';
import {unwrap} from '../../test/support/outcome.ts';
import {needs} from '../../test/support/parts.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import type {EgressConnection, EgressGate} from '../core/egress-gate.ts';
import {fail, ok} from '../core/result.ts';
import {readAllowList} from '../egress/allow-list.ts';
import {createGate} from '../egress/create-gate.ts';
import {
  engineElsewhere,
  NO_ANSWER_YET,
  noRelay,
  probeRelay,
  socketMounts,
  withoutProxy,
  withoutRelay,
} from './egress-channel.ts';
import type {Execution, SandboxCommand, SandboxDriver} from './sandbox.ts';

const channel = {socketPath: '/s', attach: () => () => {}, close: () => Promise.resolve()};

test('X1: a sandbox sees the socket of the gate, and whom to trust where the gate ends TLS', () => {
  expect(socketMounts(channel)).toEqual([{source: '/s', target: '/run/forge-egress/socket'}]);
  expect(socketMounts({...channel, bundlePath: '/b'})).toEqual([
    {source: '/s', target: '/run/forge-egress/socket'},
    {source: '/b', target: '/run/forge-egress/ca.pem'},
  ]);
});

test('X1: the port and the process of the relay are none of the command', () => {
  expect(withoutProxy([8080, 3128, 3129], channel)).toEqual([8080, 3129]);
  expect(withoutProxy(undefined, channel)).toBeUndefined();
  // Where there is no relay, a command may listen there itself.
  expect(withoutProxy([8080, 3128], undefined)).toEqual([8080, 3128]);
  expect(withoutRelay(['sleep', 'forge-relay', 'node'])).toEqual(['sleep', 'node']);
});

test('X1: what keeps a way out from being there is said with what to do', () => {
  expect(noRelay()).toMatchObject({
    ok: false,
    error: {
      code: 'sandbox_error',
      message:
        'The relay of the way out (tools.run.egress) did not start in the sandbox. Nothing was run. To fix it: give commands more memory and processes (tools.run.memory_mb, tools.run.max_processes), and see that Node itself can be read by the owner of the workspace.',
    },
  });
  expect(engineElsewhere()).toMatchObject({
    ok: false,
    error: {
      code: 'sandbox_error',
      message:
        'The Docker engine runs on another machine, so its containers cannot reach the way out of this one. Nothing was run. To fix it: use bubblewrap or an engine of this machine (DOCKER_HOST), or leave tools.run.egress empty.',
    },
  });
});

test('X1: of a command whose caller asks nothing, nobody is told and nobody is asked', () => {
  expect(Object.keys(NO_ANSWER_YET)).toEqual(['onConnection']);
});

/** A bubblewrap that cannot be run in another one, as where it lies outside of what sandboxes read. */
function flatPrograms(): readonly string[] {
  const programs = temporaryDirectory();
  chmodSync(programs, 0o755);
  writeFileSync(join(programs, 'bwrap'), '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n', {mode: 0o755});
  return [programs, '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
}

function openGate(): EgressGate {
  const allowList = readAllowList({allow: ['a.test'], presets: []});
  if (!allowList.ok) throw new Error(allowList.error.join());
  return createGate({
    allowList: allowList.value,
    authorize: async () => fail('invalid_host', 'Nobody is looked up here.', {host: ''}),
    clock: systemClock,
    limits: {maxConnections: 10, maxBytes: 1e6, maxConnectionMs: 10_000},
    places: [temporaryDirectory()],
    workspace: '/nonexistent',
  });
}

describe.each([
  ['bubblewrap in bubblewrap', 'bubblewrap', 'bubblewrap', undefined],
  ['bubblewrap alone', 'bubblewrap', 'bubblewrap', flatPrograms],
  ['Docker', 'docker', 'Docker', undefined],
] as const)('the relay in %s', (_, kind, part, programs) => {
  const open = (egress: EgressGate) => {
    const opened = openSandbox({
      settings: {sandbox: kind, memory_mb: 512},
      egress,
      ...(programs === undefined ? {} : {programDirectories: programs()}),
    });
    onTestFinished(async () => {
      await opened.close();
      await egress.close();
    });
    return opened;
  };
  const signal = new AbortController().signal;

  test('X1 brings what a command says to the gate, and no process of it is left', {
    ...needs(part),
    tags: 'slow',
  }, async () => {
    const {sandbox, run, log} = open(openGate());
    expect(await probeRelay(sandbox, signal)).toEqual(ok(true));
    const connections: EgressConnection[] = [];
    const ran = unwrap(
      await sandbox.run({
        command:
          'ls /run/forge-egress; perl -e \'use IO::Socket; my $s = IO::Socket::INET->new("127.0.0.1:3128") or die; print $s "CONNECT evil.test:443 HTTP/1.1\\r\\n\\r\\n"; print <$s>\'',
        env: {},
        timeoutMs: 20_000,
        signal,
        egress: {onConnection: connection => connections.push(connection)},
      }),
    );
    expect(Buffer.from(ran.stdout.bytes).toString()).toMatch(
      /^(?:lib\nloader\n)?node\nsocket\nHTTP\/1\.1 403 /,
    );
    expect(ran.leftRunning).toEqual([]);
    expect(connections).toMatchObject([{host: 'evil.test', decision: 'refused'}]);
    // The network is empty beside it.
    expect((await run('cat /proc/net/route | wc -l; ls /sys/class/net 2>/dev/null')).out).toMatch(
      /^1\n(?:lo\n)?$/,
    );
    expect(log.filter(({event}) => event === 'sandbox_not_nested')).toHaveLength(
      programs === undefined ? 0 : 1,
    );
  });

  test('X1 a gate that does not answer is not one that works', {...needs(part), tags: 'slow'}, async () => {
    const socketPath = join(temporaryDirectory(), 's');
    const server = createServer(socket => socket.destroy());
    await new Promise<void>(resolve => server.listen(socketPath, resolve));
    chmodSync(socketPath, 0o666);
    onTestFinished(() => void server.close());
    const {sandbox} = open({
      endsTls: false,
      open: async () => ok({socketPath, attach: () => () => {}, close: async () => {}}),
      close: async () => {},
    });
    expect(await probeRelay(sandbox, signal)).toEqual(ok(false));
  });
});

/** A driver whose command runs here, with a relay that answers this, by the Node of the test in the place of its own. */
async function probed(answer: string, hasLoader = false) {
  const place = temporaryDirectory();
  const heard: string[] = [];
  const server = createServer(socket => {
    socket.on('data', chunk => heard.push(String(chunk)));
    socket.end(answer);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  symlinkSync(process.execPath, join(place, 'node'));
  const loader = `#!/bin/sh\n[ "$1 $2" = "--library-path ${place}/lib" ] || exit 1\nshift 2\nexec "$@"\n`;
  if (hasLoader) {
    rmSync(join(place, 'node'));
    mkdirSync(join(place, 'lib'));
    symlinkSync(process.execPath, join(place, 'lib/node'));
    const node = `#!/bin/sh\n[ -z "$LOADED" ] || exec ${place}/lib/node "$@"\n`;
    writeFileSync(join(place, 'node'), node, {mode: 0o755});
    writeFileSync(join(place, 'loader'), loader.replace('exec', 'LOADED=1 exec'), {mode: 0o755});
  }
  const asked: SandboxCommand[] = [];
  const run = async (command: SandboxCommand) => {
    asked.push(command);
    const script = command.command.replaceAll('/run/forge-egress', place).replace('3128', String(port));
    const {stdout} = await promisify(execFile)('/bin/sh', ['-c', script]);
    return ok({stdout: {bytes: Buffer.from(stdout)}} as unknown as Execution);
  };
  const signal = new AbortController().signal;
  const found = await probeRelay({run} as unknown as SandboxDriver, signal);
  return {found, heard: heard.join(''), asked, signal};
}

describe('probeRelay', () => {
  test.each([false, true])(
    'X1: it asks for a host that nobody may allow; with a loader: %s',
    async hasLoader => {
      const {found, heard, asked, signal} = await probed('HTTP/1.1 403 Forbidden\r\n\r\n', hasLoader);
      expect(found).toEqual(ok(true));
      expect(heard).toBe('CONNECT forge-tools.invalid:443 HTTP/1.1\r\n\r\n');
      expect(asked).toEqual([{command: expect.any(String), env: {}, timeoutMs: 20_000, signal}]);
    },
  );

  test.each(['', 'HTTP/1.1 200 OK\r\n\r\n', 'x HTTP/1.1 403 Forbidden\r\n'])(
    'X1: the answer %j is none of a gate that works',
    async answer => {
      expect((await probed(answer)).found).toEqual(ok(false));
    },
  );

  test('X1: what keeps the command from being run is told', async () => {
    const refused = fail('sandbox_error', 'No.', {});
    const run = async () => refused;
    const signal = new AbortController().signal;
    expect(await probeRelay({run} as unknown as SandboxDriver, signal)).toBe(refused);
  });
});
