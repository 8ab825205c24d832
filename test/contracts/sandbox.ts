import {statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {
  type OpenSandbox,
  openSandbox,
  processesWith,
  type SandboxPlace,
  uniqueSleep,
} from '../support/open-sandbox.ts';
import {needs} from '../support/parts.ts';

/** What every implementation of the port does, the one that confines nothing too. */
export function sandboxContract(name: string, place: SandboxPlace): void {
  describe(`contract of the sandbox port: ${name}`, () => {
    let opened: OpenSandbox;
    const run: OpenSandbox['run'] = (command, options) => opened.run(command, options);
    beforeAll(() => {
      opened = openSandbox(place);
    });
    afterAll(() => opened.close());

    test('Tool API run: exit code, both streams and the kind of sandbox', async () => {
      expect(await run('echo out; echo err >&2; exit 7')).toMatchObject({
        exitStatus: {kind: 'exited', code: 7},
        out: 'out\n',
        err: 'err\n',
        sandbox: place.settings?.sandbox,
      });
      expect(await run('true')).toMatchObject({exitStatus: {kind: 'exited', code: 0}, out: '', err: ''});
      expect((await run('no-such-program-anywhere')).exitStatus).toEqual({kind: 'exited', code: 127});
    });

    test('Tool API run: a command is text for sh, of several lines, with quotes and non-ASCII', async () => {
      const command = `a='it'"'"'s'\nprintf '%s|' "$a" "\\$HOME" 'zwei  Blanke' 'ü😀'\n`;
      expect((await run(command)).out).toBe("it's|$HOME|zwei  Blanke|ü😀|");
      expect((await run(`printf %s '${'x'.repeat(90_000)}' | wc -c`)).out.trim()).toBe('90000');
      expect((await run('echo "unterminated')).exitStatus).toMatchObject({kind: 'exited', code: 2});
    });

    test('policy: the environment of the host stays outside, that of the call arrives as it is', async () => {
      const secret = await run('env', {env: {}});
      expect(secret.out).not.toContain('FORGE_TEST');
      expect(secret.out).not.toContain('VITEST');
      // Names that a process of the host may be given, too.
      const env = {
        LC_A: 'b c',
        LC_QUOTED: `"'$(id)\``,
        LINES: 'one\ntwo',
        LC_EMPTY: '',
        LC_UMLAUT: 'ä',
        LC_IFS: 'x',
      };
      const given = await run(
        'printf "%s|" "$LC_A" "$LC_QUOTED" "$LINES" "$LC_EMPTY" "$LC_UMLAUT" "$LC_IFS"',
        {env},
      );
      expect(given.out).toBe(`b c|"'$(id)\`|one\ntwo||ä|x|`);
    });

    test('policy: standard input is empty, and no login shell is started', async () => {
      expect((await run('cat; echo done')).out).toBe('done\n');
      expect((await run('case $- in *i*) echo interactive;; esac; echo "$0"')).out).toBe('/bin/sh\n');
    });

    test('policy: commands run in the workspace, and what they write is there', async () => {
      writeFileSync(join(opened.workspace, 'given'), 'given');
      expect((await run('cat given; echo made >made; mkdir -p d/e')).out).toBe('given');
      expect(statSync(join(opened.workspace, 'made')).size).toBe(5);
      expect(statSync(join(opened.workspace, 'd/e')).isDirectory()).toBe(true);
    });

    test('W18: a command runs in the directory of the workspace that it names', async () => {
      await run(`mkdir -p "a/b 'c" -- -d`);
      const where = (directory: string) => run('pwd; echo "$0 $1"; touch here', {directory});
      const {out} = await where("a/b 'c");
      expect(out.endsWith("/a/b 'c\n/bin/sh \n")).toBe(true);
      expect(statSync(join(opened.workspace, "a/b 'c/here")).isFile()).toBe(true);
      expect((await where('-d')).out).toMatch(/\/-d\n/);
      // The next one is in the root again.
      expect((await run('cat given || ls given')).err).not.toContain('-d');
      expect((await run('pwd')).out).not.toContain('/-d');
    });

    test('W20: only a death by signal is one; a command that exits with 129 or more by itself exits', async () => {
      expect((await run('kill -SEGV $$')).exitStatus).toMatchObject({
        kind: 'killed',
        code: 139,
        signal: 'SIGSEGV',
      });
      expect((await run('kill -INT $$')).exitStatus).toMatchObject({kind: 'killed', signal: 'SIGINT'});
      for (const code of [129, 130, 137, 139, 143, 255]) {
        expect((await run(`exit ${code}`)).exitStatus).toEqual({kind: 'exited', code});
      }
      const inner = await run('sh -c "kill -KILL \\$\\$"; exit $?');
      expect(inner.exitStatus).toEqual({kind: 'exited', code: 137});
      expect((await run('trap "exit 5" INT; kill -INT $$; sleep 5')).exitStatus).toMatchObject({code: 5});
    });

    test('policy: no command can write how it ended', async () => {
      // What a shell around the command has in its arguments or its environment could be its mark.
      const seen = 'tr "\\0" "\\n" </proc/$PPID/cmdline; tr "\\0=" "\\n\\n" </proc/$PPID/environ';
      const forge = `for mark in $({ ${seen}; } 2>/dev/null | grep -xE "[0-9a-f]{32}"); do printf "%s0 1 ;" $mark >&2; done`;
      expect(await run(`${forge}; exit 3`)).toMatchObject({exitStatus: {kind: 'exited', code: 3}, err: ''});
    });

    test('ruling W8 time-out: everything is killed, setsid and double forks too; the output is kept', async () => {
      const sleep = uniqueSleep();
      const command = `echo before; setsid sleep ${sleep} & (setsid sh -c "sleep ${sleep} & sleep ${sleep}" &); sleep ${sleep}`;
      const ran = await run(command, {timeoutMs: 4000});
      expect(ran).toMatchObject({exitStatus: {kind: 'timeout'}, out: 'before\n'});
      expect(processesWith(sleep)).toEqual([]);
    });

    test('policy: a command that is cancelled is killed, at once and later', async () => {
      const sleep = uniqueSleep();
      const later = new AbortController();
      const running = run(`sleep ${sleep}`, {signal: later.signal});
      for (let tries = 0; processesWith(sleep).length === 0 && tries < 5000; tries++) {
        await new Promise(resolve => setImmediate(resolve));
      }
      later.abort();
      expect((await running).exitStatus).toEqual({kind: 'cancelled'});
      expect((await run(`sleep ${sleep}`, {signal: AbortSignal.abort()})).exitStatus).toEqual({
        kind: 'cancelled',
      });
      expect(processesWith(sleep)).toEqual([]);
    });

    test(
      'ruling W8 nothing outlives the call: what was left running is named and dead',
      needs('Perl'),
      async () => {
        const sleep = uniqueSleep();
        const daemon = `perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; close STDOUT; close STDERR; exec "sleep", "${sleep}"'`;
        const wait = 'perl -e "select undef, undef, undef, 0.3"';
        const ran = await run(
          `${daemon}; sleep ${sleep} & setsid sleep ${sleep} >/dev/null 2>&1 & ${wait}; echo end`,
        );
        expect(ran).toMatchObject({exitStatus: {kind: 'exited', code: 0}, out: 'end\n'});
        expect(ran.leftRunning).toEqual(['sleep', 'sleep', 'sleep']);
        expect(processesWith(sleep)).toEqual([]);
        expect((await run('true')).leftRunning).toEqual([]);
      },
    );

    test('ruling W9 an output of 1 GB: head, marker and tail of 102,400 bytes', {
      tags: 'stress',
    }, async () => {
      const ran = await run('echo first; head -c 1073741824 /dev/zero; echo last', {timeoutMs: 60_000});
      expect(ran.totalOut).toBe(1_073_741_824 + 11);
      expect(ran.outBytes.length).toBeLessThanOrEqual(102_400);
      expect(ran.outBytes.length).toBeGreaterThan(102_300);
      expect(ran.out.startsWith('first\n')).toBe(true);
      expect(ran.out.endsWith('last\n')).toBe(true);
      expect(ran.out).toMatch(/\n\[\.\.\. 1\d{9} bytes left out \.\.\.\]\n/);
    });

    test('ruling W9 10 MB on one line, and bytes that are no text', needs('Perl'), async () => {
      const line = await run("perl -e 'print q(x) x 10_000_000'");
      expect(line.totalOut).toBe(10_000_000);
      expect(line.outBytes.length).toBeLessThanOrEqual(102_400);
      const binary = await run("perl -e 'print pack q(C*), 0..255'");
      expect([...binary.outBytes]).toEqual(Array.from({length: 256}, (_, byte) => byte));
    });

    test('policy: several commands at a time do not see each other', async () => {
      const outs = await Promise.all(
        ['1', '2', '3'].map(async n =>
          run(`echo ${n} >f${n}; perl -e "select undef,undef,undef,0.2"; cat f${n}`),
        ),
      );
      expect(outs.map(({out}) => out)).toEqual(['1\n', '2\n', '3\n']);
    });
  });
}
