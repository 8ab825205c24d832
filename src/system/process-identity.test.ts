import {spawnSync} from 'node:child_process';
import {readFileSync, readlinkSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {livenessOf, ownIdentity, type ProcessFacts} from './process-identity.ts';

const system: ProcessFacts = {
  readText: path => readFileSync(path, 'utf8'),
  readLink: path => readlinkSync(path),
  signal: pid => {
    process.kill(pid, 0);
  },
};

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), {code, syscall: 'open'});
};

describe('whether a process still runs', () => {
  test('policy: this one does, and one that has ended does not', () => {
    expect(livenessOf(ownIdentity())).toBe('alive');
    const {pid} = spawnSync(process.execPath, ['-e', '']);
    expect(livenessOf({...ownIdentity(), pid})).toBe('gone');
  });

  test('policy: an earlier process with our number is gone', () => {
    expect(livenessOf({...ownIdentity(), started: 'other boot:1'})).toBe('gone');
  });

  test.each(['EMFILE', 'ENFILE', 'EACCES', 'ENOENT'])(
    'review B14: a living process is not called gone where it cannot be looked at (%s)',
    code => {
      expect(livenessOf(ownIdentity(), {...system, readText: failing(code)})).toBe('alive');
    },
  );

  test.each([
    ['Z', 1, 'gone'],
    ['X', 0, 'gone'],
    ['Z', 2, 'alive'],
    ['S', 1, 'alive'],
  ] as const)('W19: one in state %s with %i threads is %s', (state, threads, expected) => {
    const {pid, started} = ownIdentity();
    const [boot = '', start = ''] = started.split(':');
    const fields = [state, ...Array(16).fill('0'), String(threads), '0', start, '0'];
    const readText = (path: string): string =>
      path.endsWith('/stat') ? `${pid} (a) b) ${fields.join(' ')}` : `${boot}\n`;
    expect(livenessOf(ownIdentity(), {...system, readText})).toBe(expected);
  });

  test('policy: EPERM means that it is there', () => {
    expect(livenessOf(ownIdentity(), {...system, signal: failing('EPERM')})).toBe('alive');
    expect(livenessOf(ownIdentity(), {...system, signal: failing('ESRCH')})).toBe('gone');
  });

  test('policy: of another host or PID namespace nothing is known', () => {
    expect(livenessOf({...ownIdentity(), host: 'elsewhere'})).toBe('unknown');
    expect(livenessOf({...ownIdentity(), namespace: 'pid:[1]'})).toBe('unknown');
  });
});
