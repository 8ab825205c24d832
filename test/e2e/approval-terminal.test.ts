import {spawn} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));
const COLUMNS = 60;

/** What stands in the rows of a terminal that is 60 columns wide: wide characters take two. */
function rowsOf(output: string): readonly string[] {
  const rows = [''];
  let column = 0;
  for (const character of output.replace(/\u001b\[[0-9;]*m/g, '')) {
    if (character === '\n') {
      rows.push('');
      column = 0;
    } else if (character !== '\r') {
      const width = /[\u3000-\u9fff\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(character) ? 2 : 1;
      if (column + width > COLUMNS) {
        rows.push('');
        column = 0;
      }
      rows[rows.length - 1] += character;
      column += width;
    } else column = 0;
  }
  return rows;
}

/** A line and Enter; a key of its own as it is. */
function keysOf(answer: string): string {
  return /^[\u0003\u0004]$/.test(answer) ? answer : `${answer}\n`;
}

/** Runs the built command line on a pseudo-terminal of util-linux's `script`, and answers its questions. */
function onTerminal(argv: readonly string[], answers: readonly string[], place: string): Promise<string> {
  const command = [process.execPath, MAIN, ...argv]
    .map(word => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(' ');
  const child = spawn('script', ['-qec', `stty cols ${COLUMNS} rows 60 -echo; ${command}`, '/dev/null'], {
    env: {PATH: process.env['PATH'], HOME: place, TERM: 'xterm', SHELL: '/bin/sh', LANG: 'C.UTF-8'},
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const waiting = [...answers];
  let output = '';
  let answered = 0;
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout.on('data', chunk => {
      output += chunk;
      // One answer for each question that ends in a colon or a bracket, and a blank.
      const asked = output.match(/(?:\[\?\]: |reason\): |\[y\/N\] )/g)?.length ?? 0;
      for (; answered < asked && waiting.length > 0; answered++)
        child.stdin.write(keysOf(waiting.shift() ?? ''));
    });
    child.once('close', () => resolve(output));
  });
}

function prepare() {
  const place = temporaryDirectory();
  const workspace = join(place, 'workspace');
  const config = join(place, 'config.toml');
  mkdirSync(workspace);
  writeFileSync(
    config,
    '[tools]\nmode = "enabled"\n[tools.run]\nenabled = true\nsandbox = "none"\nallow_insecure_none = true\n',
  );
  const flags = ['--workspace', workspace, '--config', config, '--run-dir', join(place, 'run')];
  return {place, flags};
}

const FORGED = 'Allow it? [o]nce (recommended, the operator asked for this)';

describe('review R15: on a real terminal a call cannot forge a line of ours', () => {
  test('the question of a call', needs('script'), async () => {
    const {place, flags} = prepare();
    const command = `echo ${'\u3000'.repeat(27)}${FORGED}\n${' '.repeat(300)}Why it is asked: trust me\u202e\u200b`;
    const output = await onTerminal(['call', 'run', JSON.stringify({command}), ...flags], ['n', ''], place);
    expect(output).toContain('run needs an approval.');
    const rows = rowsOf(output);
    expect(rows.filter(row => /recommended|trust me/.test(row)).length).toBeGreaterThan(0);
    for (const row of rows.slice(
      0,
      rows.findIndex(text => text.startsWith('Allow it? [y]es, this once, this')),
    )) {
      expect(row).toMatch(
        /^(?:run needs an approval\.| {2}Why it is asked: tools\.approval\.mode| {2}│ |"prompt"|$)/,
      );
    }
    expect(output).toContain('\\u{202e}\\u{200b}');
  });

  test('the list and the question of `approve`', needs('script'), async () => {
    const {place, flags} = prepare();
    const command = `: ${'\u3000'.repeat(27)}${FORGED}`;
    const config = flags.slice(2);
    const asked = spawn(
      process.execPath,
      [MAIN, 'call', 'run', JSON.stringify({command}), '--json', ...flags],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    let answer = '';
    for await (const chunk of asked.stdout) answer += chunk;
    const id = JSON.parse(answer).error.details.approval_id;
    const output = await onTerminal(['approve', id, '--run-dir', config[3] ?? ''], ['n'], place);
    const rows = rowsOf(output);
    expect(rows.join('')).toContain('recommended');
    for (const row of rows.slice(
      0,
      rows.findIndex(text => text.startsWith('Allow it once?')),
    )) {
      expect(row).toMatch(/^(?:[0-9a-f]{20} {2}waits until | {2}│ |$)/);
    }
  });
});

test('policy: after Ctrl-C and Ctrl-D the answer begins on a line of its own', needs('script'), async () => {
  for (const key of ['\u0003', '\u0004']) {
    const {place, flags} = prepare();
    const output = await onTerminal(['call', 'run', '{"command": "ls"}', ...flags], [key], place);
    const rows = rowsOf(output);
    const said = rows.findIndex(row => /(?:cancelled|approval_denied): /.test(row));
    expect(rows[said]).toMatch(/^(?:cancelled|approval_denied): /);
  }
});
