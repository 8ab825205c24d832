import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runOptions, SESSIONS} from '../../test/support/open-sandbox.ts';
import {needs} from '../../test/support/parts.ts';
import {CONFINED, pretendDocker} from '../../test/support/pretend-docker.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {silentLog} from '../core/log.ts';
import type {Section, Setting} from '../core/setting.ts';
import {diedBySignal} from './child.ts';
import {rootIdentity} from './guard/users.ts';
import {lazySandbox} from './lazy-sandbox.ts';
import {listeningPortsOf, ownListeningPorts, portsIn} from './listening-ports.ts';
import {runSection} from './options.ts';
import {OutputCapture} from './output-capture.ts';
import {cleanLine, previewOutput} from './preview-output.ts';
import {unconfined} from './probe.ts';
import type {Execution, SandboxHost} from './sandbox.ts';
import {sandboxFailure, workspaceMoves} from './sandbox-failure.ts';
import {WAIT_FOR_COMMAND} from './wait-for-command.ts';

const command = {command: 'true', env: {}, timeoutMs: 5000, signal: new AbortController().signal};

/** A sandbox of a workspace that is replaced before its first command. */
function open(place: Partial<SandboxHost> = {}) {
  const workspace = join(temporaryDirectory(), 'work');
  mkdirSync(workspace);
  const docker = pretendDocker();
  const host: SandboxHost = {
    ...{workspace, protectedPaths: [], sessions: SESSIONS, env: {}, programDirectories: [docker.programs]},
    ...{clock: systemClock, log: silentLog, ...place},
  };
  const sandbox = lazySandbox(runOptions({sandbox: 'docker'}), host);
  onTestFinished(() => sandbox.close());
  const replace = () => {
    renameSync(workspace, `${workspace}-before`);
    mkdirSync(workspace);
  };
  return {sandbox, docker, workspace, replace};
}

test('policy: a sandbox that runs nothing starts nothing and closes at once', async () => {
  const {sandbox, docker} = open();
  await sandbox.close();
  expect(docker.calls('info')).toEqual([]);
});

test('policy: it is chosen once, with the first command or probe, and closed with what it has', async () => {
  const {sandbox, docker} = open();
  expect(await sandbox.probe()).toMatchObject({ok: true, value: {sandbox: 'docker'}});
  expect(await sandbox.run(command)).toMatchObject({ok: true, value: {sandbox: 'docker'}});
  expect(docker.calls('info')).toHaveLength(1);
  await sandbox.close();
  expect(docker.calls('rm')).toHaveLength(1);
});

test('review R4: the workspace is that which lay there when the session began, not with the first command', async () => {
  const {sandbox, docker, replace} = open();
  replace();
  expect(await sandbox.run(command)).toMatchObject({ok: false});
  expect(docker.calls('run')).toEqual([]);
});

test('review R4: or that of which the caller says so', async () => {
  const place = temporaryDirectory();
  const {sandbox} = open({root: rootIdentity(place)});
  expect(await sandbox.run(command)).toMatchObject({ok: false});
});

test('W21 of the table of the kernel, the ports of sockets that listen', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 17 1',
    '   1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 18 1',
    '   2: 00000000000000000000000000000000:0050 00000000:0000 0A 0:0 0:0 0 0 0 19',
    '',
  ].join('\n');
  expect(portsIn(table)).toEqual([8080, 80]);
});

test(
  'W21 a process that listens has its port, and another one that is gone has none',
  needs('Linux'),
  async () => {
    const listen = async (host: string) => {
      const server = createServer();
      await new Promise<void>(resolve => server.listen(0, host, resolve));
      onTestFinished(() => void server.close());
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    };
    const port = await listen('127.0.0.1');
    expect(await ownListeningPorts([process.pid])).toContain(port);
    expect(await ownListeningPorts([2 ** 22 + 1])).toEqual([]);
    expect(await listeningPortsOf(String(process.pid))).toContain(port);
    expect(await listeningPortsOf(String(2 ** 22 + 1))).toBeUndefined();
    expect(await listeningPortsOf(undefined)).toBeUndefined();
  },
);

/** proc(5): a process with these sockets and this network. */
function processIn(
  proc: string,
  pid: string,
  {links = {}, tables = {}}: {links?: Record<string, string>; tables?: Record<string, string>},
) {
  for (const part of ['fd', 'net']) mkdirSync(join(proc, pid, part), {recursive: true});
  for (const [descriptor, link] of Object.entries(links))
    symlinkSync(link, join(proc, pid, 'fd', descriptor));
  for (const [name, table] of Object.entries(tables)) writeFileSync(join(proc, pid, 'net', name), table);
}

const socket = (port: string, inode: number) => ` 0: 00000000:${port} 00000000:0000 0A 0 0 0 0 0 ${inode}\n`;

test('W21 of a network that others share, the ports of its own sockets', async () => {
  const proc = temporaryDirectory();
  processIn(proc, 'self', {tables: {tcp: socket('1F90', 17) + socket('1F91', 18), tcp6: socket('1F92', 19)}});
  processIn(proc, '7', {links: {3: 'socket:[17]', 4: 'pipe:[18]', 5: '/socket:[18]', 6: 'socket:[18]x'}});
  writeFileSync(join(proc, '7/fd/9'), '');
  processIn(proc, '8', {links: {3: 'socket:[19]'}});
  expect(await ownListeningPorts([7], proc)).toEqual([8080]);
  expect(await ownListeningPorts([7, 8, 9], proc)).toEqual([8080, 8082]);
  expect(await listeningPortsOf('self', proc)).toEqual([8080, 8081, 8082]);
});

test('W21 a kernel without IPv6 has one table, and without either nothing is known', async () => {
  const proc = temporaryDirectory();
  processIn(proc, 'self', {tables: {tcp: socket('1F90', 17)}});
  processIn(proc, '7', {links: {3: 'socket:[17]'}});
  expect(await ownListeningPorts([7], proc)).toEqual([8080]);
  expect(await listeningPortsOf('7', proc)).toBeUndefined();
  expect(await ownListeningPorts([7], join(proc, 'missing'))).toBeUndefined();
});

/** Each setting of a section, and of what lies below it, by its name. */
function settingsOf(
  entries: Section['entries'],
  above = '',
): readonly (readonly [string, Setting | Section])[] {
  return Object.entries(entries).flatMap(([key, entry]) => {
    const name = `${above}${key}`;
    const below = 'entries' in entry ? settingsOf(entry.entries, `${name}.`) : [];
    return [[name, entry] as const, ...below];
  });
}

const settings = [['', runSection] as const, ...settingsOf(runSection.entries)];

/** All that a setting is, but for the sentences that describe it. */
function withoutWords(setting: Setting | Section): Readonly<Record<string, unknown>> {
  const left = Object.entries(setting).filter(([key]) => key !== 'doc' && key !== 'entries');
  return Object.fromEntries(left);
}

const seconds = {kind: 'integer', unit: 's'};
const megabytes = {kind: 'integer', unit: 'MiB', max: 1_048_576};
const section = {kind: 'section', extension: true};
const text = {kind: 'text', default: ''};
const nothing = {kind: 'text-list', default: []};

test('policy: out of the box commands are confined, offline, and leave .git alone', () => {
  expect(Object.fromEntries(settings.map(([name, setting]) => [name, withoutWords(setting)]))).toEqual({
    '': section,
    enabled: {kind: 'flag', default: true},
    sandbox: {kind: 'choice', default: 'auto', choices: ['auto', 'docker', 'bubblewrap', 'none']},
    allow_insecure_none: {kind: 'flag', default: false},
    git: {kind: 'choice', default: 'read-only', choices: ['read-only', 'commit']},
    isolation: {kind: 'choice', default: 'session', choices: ['session', 'fresh']},
    timeout_seconds: {...seconds, default: 120, min: 1, max: 3600},
    max_timeout_seconds: {...seconds, default: 600, min: 1, max: 86_400},
    background: section,
    'background.max_commands': {kind: 'integer', default: 4, min: 0, max: 64},
    'background.max_life_seconds': {...seconds, default: 3600, min: 1, max: 86_400},
    egress: section,
    'egress.allow': nothing,
    'egress.presets': nothing,
    'egress.credentials': {kind: 'table-list', default: [], required: ['host']},
    'egress.credentials.host': text,
    'egress.credentials.header': {kind: 'text', default: 'Authorization'},
    'egress.credentials.prefix': text,
    'egress.credentials.env': text,
    'egress.credentials.file': {...text, path: true},
    'egress.max_connections': {kind: 'integer', default: 1000, min: 1, max: 100_000},
    'egress.max_mb': {...megabytes, default: 1024, min: 1},
    'egress.max_connection_sec': {...seconds, default: 600, min: 1, max: 86_400},
    memory_mb: {...megabytes, default: 2048, min: 64},
    tmp_mb: {...megabytes, default: 512, min: 1},
    max_processes: {kind: 'integer', default: 512, min: 16, max: 32_768},
    cpus: {kind: 'integer', default: 2, min: 1, max: 1024},
    open_files: {kind: 'integer', default: 4096, min: 64, max: 1_048_576},
    kept_output_mb: {...megabytes, default: 256, min: 64},
    path: {kind: 'text', default: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'},
    readable_paths: {kind: 'text-list', default: ['/opt']},
    inherit_env: {kind: 'text-list', default: ['LANG', 'LC_ALL', 'TZ']},
    docker: section,
    'docker.image': {kind: 'text', default: 'debian:bookworm-slim'},
    'docker.user': text,
  });
});

test('policy: each setting says what it does', () => {
  for (const [name, {doc}] of settings)
    expect({name, doc}).toEqual({name, doc: expect.stringMatching(/^\S.+\.$/s)});
});

function preview(text: string | Uint8Array) {
  const output = new OutputCapture();
  output.write(Buffer.from(text));
  return previewOutput(output.finish(), 'ask again');
}

describe('previewOutput', () => {
  test('a short output is shown whole', () => {
    expect(preview('one\ntwo\n')).toEqual({text: 'one\ntwo\n', truncated: false});
    expect(preview('')).toEqual({text: '', truncated: false});
  });

  test('policy: head and tail of many lines, and how many are missing', () => {
    const lines = Array.from({length: 1000}, (_, at) => `line ${at}`);
    const {text, truncated} = preview(lines.join('\n'));
    expect(truncated).toBe(true);
    expect(text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(text).toContain('\nline 59\n[800 of 1,000 lines left out; ask again]\nline 860\n');
    expect(text.endsWith('line 999')).toBe(true);
    // Behind the last line break there is no line.
    expect(preview(`${lines.join('\n')}\n`).text).toContain('[801 of 1,000 lines left out; ask again]');
  });

  test('W17: the lines that are counted are those of the whole output, also where the middle was not kept', () => {
    const lines = Array.from({length: 30_000}, (_, at) => `line ${at}`);
    const {text} = preview(`${lines.join('\n')}\n`);
    expect(text).toContain('\nline 59\n[29,801 of 30,000 lines left out; ask again]\nline 29861\n');
    expect(preview(lines.join('\n')).text).toContain(
      '[29,800 of 30,000 lines left out; ask again]\nline 29860\n',
    );
  });

  test('policy: 60 lines of the head and 140 of the tail are shown, and what is between them is counted', () => {
    const lines = (count: number) => Array.from({length: count}, (_, at) => `line ${at}`);
    expect(preview(lines(200).join('\n'))).toEqual({text: lines(200).join('\n'), truncated: false});
    const shown = lines(201).toSpliced(60, 1, '[1 of 201 lines left out; ask again]');
    expect(preview(lines(201).join('\n'))).toEqual({text: shown.join('\n'), truncated: true});
    const ended = lines(200).toSpliced(60, 1, '[1 of 200 lines left out; ask again]');
    expect(preview(`${lines(200).join('\n')}\n`).text).toBe(`${ended.join('\n')}\n`);
  });

  test('policy: 4,000 characters of the head and 8,000 of the tail are shown, line breaks counted', () => {
    const lines = (count: number) => Array.from({length: count}, (_, at) => String(at).padEnd(79, 'x'));
    expect(preview(lines(150).join('\n'))).toEqual({text: lines(150).join('\n'), truncated: false});
    const shown = lines(151).toSpliced(50, 1, '[1 of 151 lines left out; ask again]');
    expect(preview(lines(151).join('\n'))).toEqual({text: shown.join('\n'), truncated: true});
  });

  test('policy: a line of more than 1,000 characters is cut in its middle', () => {
    expect(preview(`a\n${'b'.repeat(1000)}`)).toEqual({text: `a\n${'b'.repeat(1000)}`, truncated: false});
    const {text, truncated} = preview(`a\n${'b'.repeat(1001)}`);
    expect(text).toMatch(/^a\nb+\[\.\.\. \d+ characters left out \.\.\.\]b+$/);
    const left = Number(/\d+/.exec(text)?.[0]);
    expect(text.match(/b/g)).toHaveLength(1001 - left);
    expect({truncated, isShort: text.length <= 1002}).toEqual({truncated: true, isShort: true});
  });

  test('policy: one line of 119,000 characters does not fill the context', () => {
    const {text, truncated} = preview(`${'x'.repeat(119_000)}`);
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThan(2500);
    expect(preview(Array.from({length: 300}, () => 'y'.repeat(900)).join('\n')).text.length).toBeLessThan(
      13_000,
    );
  });

  test('policy: where parts of lines are missing and no line is, that is what is said', () => {
    const lines = [...Array.from({length: 12}, () => 'y'.repeat(900)), 'x'.repeat(150_000)];
    expect(preview(lines.join('\n')).text).toContain('\n[parts of 13 lines left out; ask again]\n');
  });

  test('policy: what was not kept is missing, also where the rest is short to a reader', () => {
    const {text, truncated} = preview('50%\r'.repeat(60_000));
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThan(100);
  });

  test('policy: terminal sequences and invisible characters are left out', () => {
    expect(
      preview('\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B\x07\u202eabc\u{e0041}')
        .text,
    ).toBe('red linkabc');
    expect(preview('\x1b[').text).toBe('[');
  });

  test('policy: a progress bar is shown as it ended', () => {
    expect(preview('10%\r50%\r100%\r\ndone\r\n').text).toBe('100%\ndone\n');
  });

  test('policy: bytes that are no text become replacement characters', () => {
    expect(preview(new Uint8Array([0x61, 0xff, 0x62])).text).toBe('a\ufffdb');
  });

  test('policy: the worst outputs take linear time', () => {
    const started = performance.now();
    for (const unit of ['\x1b[', '\x1b]', '\x1b[1;', '\r', '\x1b(', 'x\x1b[31']) preview(unit.repeat(50_000));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test.each([
  ['a tab\tand ~ of ASCII', 'a tab\tand ~ of ASCII'],
  ['', ''],
  ['über', 'über'],
  // ECMA-48: CSI with parameter bytes, intermediate bytes and a final byte.
  ['a\x1b[31mb\x1b[0mc', 'abc'],
  ['a\x1b[?25lb\x1b[1;2Hc\x1b[mD', 'abcD'],
  ['a\x1b[ qb\x1b[0~c\x1b[1!@d', 'abcd'],
  // OSC, ended by BEL, by ST, or not at all.
  ['a\x1b]0;title\x07b', 'ab'],
  ['a\x1b]8;;http://x\x1b\\b', 'ab'],
  ['a\x1b]0;title', 'a'],
  // Two characters, and with intermediate bytes.
  ['a\x1bcb\x1b=c\x1b(Bd\x1b#8e\x1b7f', 'abcdef'],
  ['a\x1b M', 'a'],
  // The last state of a line counts, with a line break of a terminal or without.
  ['10%\r50%\r100%\r', '100%'],
  ['10%\r100%', '100%'],
  ['\r', ''],
  ['done\r', 'done'],
  ['a\rb\x1b[K\r', 'b'],
  ['a\u202eb\u200bc', 'abc'],
])('policy: %j is shown as %j', (line, shown) => {
  expect(cleanLine(line)).toBe(shown);
});

const output = (text: string) => ({
  ...{bytes: Buffer.from(text), totalBytes: text.length, totalLines: 1, leftOutBytes: 0},
});

function check(text: string, changes: Partial<Execution> = {}, limits = {}) {
  const ran: Execution = {
    ...{sandbox: 'docker', exitStatus: {kind: 'exited', code: 0}, durationMs: 1, leftRunning: []},
    ...{stdout: output(text), stderr: output('')},
    ...changes,
  };
  return unconfined(ran, {boundingSet: 0x20n, openFiles: 4096, processes: undefined, ...limits});
}

/** What is wrong where this text takes the place of that one. */
const changed = (from: string, to: string) => check(CONFINED.replace(from, to));

test('ruling W8 a sandbox that confines has nothing wrong with it', () => {
  expect(check(CONFINED)).toBeUndefined();
  // Tunnels of the kernel are no network.
  expect(check(`${CONFINED}  sit0: 0 0\n  tunl0: 0\n  ip6tnl-eth0: 0\n`)).toBeUndefined();
  // Only a line of our own says what is writable.
  expect(check(`${CONFINED}is not writable here\n`)).toBeUndefined();
});

test.each(
  // biome-ignore format: a case is a line
  [
    ['CapInh:\t0000000000000000', 'CapInh:\t0000000000000001', 'capabilities are left (CapInh 0000000000000001)'],
    ['CapPrm:\t0000000000000000', 'CapPrm:\t0000000000000020', 'capabilities are left (CapPrm 0000000000000020)'],
    ['CapEff:\t0000000000000000', 'CapEff:\tffffffffffffffff', 'capabilities are left (CapEff ffffffffffffffff)'],
    ['CapAmb:\t0000000000000000', 'CapAmb:\tx0', 'capabilities are left (CapAmb x0)'],
    ['CapAmb:\t0000000000000000', 'CapAmb:\t0x', 'capabilities are left (CapAmb 0x)'],
    ['CapAmb:\t0000000000000000', '', 'capabilities are left (CapAmb )'],
    ['CapBnd:\t0000000000000020', 'CapBnd:\t0000000000000021', 'capabilities are left (CapBnd 0000000000000021)'],
    ['NoNewPrivs:\t1', 'NoNewPrivs:\t0', 'no_new_privs is not set'],
    ['NoNewPrivs:\t1', 'XNoNewPrivs:\t1', 'no_new_privs is not set'],
    ['Seccomp:\t2', 'Seccomp:\t0', 'no system call filter is installed'],
    ['4096                 4096', '4096                 4097', 'the limit on open files does not hold'],
    ['Max open files ', 'Max closed files ', 'the limit on open files does not hold'],
    ['    lo:', '  eth0:', 'it has a network (eth0)'],
    ['    lo:', '  wlan0:0\nveth-1: 0\n tunl0:', 'it has a network (wlan0, veth-1)'],
    ['workspace writable', 'hypervisor reachable', 'sockets of the hypervisor (AF_VSOCK) are let through'],
    ['workspace', 'writable /etc/passwd\nworkspace', '/etc/passwd is writable'],
    ['workspace writable', '', 'the workspace is not writable'],
  ],
)('ruling W8 with %j as %j it does not', (from, to, problem) => {
  expect(CONFINED).toContain(from);
  expect(changed(from, to)).toBe(problem);
});

test('ruling W8 where no control group counts processes, their limit has to hold', () => {
  expect(check(CONFINED, {}, {processes: 128})).toBe('the limit on processes does not hold');
  const limited = CONFINED.replace(/(Max processes +)unlimited( +)unlimited/, '$1128$2129');
  expect(check(limited, {}, {processes: 128})).toBe('the limit on processes does not hold');
  expect(check(limited, {}, {processes: 129})).toBeUndefined();
});

test('ruling W8 a probe that fails says with what', () => {
  const failed = {
    exitStatus: {kind: 'exited', code: 1},
    stderr: output(` no shell ${'x'.repeat(300)}\n`),
  } as const;
  expect(check(CONFINED, failed)).toBe(
    `its probe ended with {"kind":"exited","code":1} no shell ${'x'.repeat(191)}`,
  );
  expect(check(CONFINED, {exitStatus: {kind: 'timeout'}})).toBe('its probe ended with {"kind":"timeout"} ');
});

test('ruling W8 a failure says that nothing was run, what to do, and the words of what refused', () => {
  const {error} = sandboxFailure({problem: 'P', remedy: 'R.', error: ` ${'e'.repeat(600)}`, tried: ['a']});
  expect(error).toMatchObject({code: 'sandbox_error', message: 'P. Nothing was run. To fix it: R.'});
  expect(error.details).toEqual({error: 'e'.repeat(500), remedy: 'R.', tried: ['a']});
  expect(sandboxFailure({problem: 'P', remedy: 'R.', error: ' \n'}).error.details['error']).toBe('P');
  expect(sandboxFailure({problem: 'P', remedy: 'R.'}).error.details['error']).toBe('P');
});

test('review R1: a part that moves is named', () => {
  expect(workspaceMoves('a"b').error.message).toBe(
    '"a\\"b" in the workspace is moved or replaced while it is being mounted. Nothing was run. To fix it: end what moves it (a command of another session, a build outside), and call again.',
  );
});

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
