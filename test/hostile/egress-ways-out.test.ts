// X1: a sandbox with one way out has one way out. Every other one that is known is tried from inside, by a program that
// speaks to the gate as it likes, in a network where every address answers and a capture looks on.
import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {createCertificateAuthority} from '../support/certificates.ts';
import {ATTEMPTS, HOST} from './support/egress-attempts.js';

interface Probe {
  readonly result: {readonly status: string; readonly data: {readonly exit_code: number}};
  readonly answers: string;
  readonly killed: {readonly stdout: string};
  readonly after: {readonly stdout: string};
  readonly events: readonly {
    readonly step: number;
    readonly host: string;
    readonly decision: string;
    readonly reason: string;
  }[];
  readonly heard: readonly string[];
  readonly elsewhere: readonly string[];
  readonly allowed: number;
}

const PROBE = fileURLToPath(new URL('support/egress-probe.js', import.meta.url));

function probe(kind: string): Probe {
  const leaf = createCertificateAuthority().issue({names: [HOST]});
  const ran = spawnSync('unshare', ['-n', process.execPath, PROBE, kind], {
    input: JSON.stringify({cert: leaf.chain, key: leaf.key}),
    encoding: 'utf8',
    env: {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST']},
    maxBuffer: 64_000_000,
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
}

describe.each(['bubblewrap', 'docker'])('X1 the ways out of %s', kind => {
  test(`X1 ${ATTEMPTS.length} ways out of ${kind}: those of the gate are taken, and no packet goes past it`, () => {
    const {result, answers, killed, after, events, heard, elsewhere, allowed} = probe(kind);
    expect(result).toMatchObject({status: 'success', data: {exit_code: 0}});
    const lines = answers
      .trim()
      .split('\n')
      .map(line => line.split('\t'));
    expect(lines.map(([name]) => name)).toEqual(ATTEMPTS.map(({name}) => name));
    for (const [index, [name, error = '', answer = '']] of lines.entries()) {
      const {way, reaches} = ATTEMPTS[index] ?? {};
      if (reaches) expect([name, answer]).toEqual([name, expect.stringMatching(/200/)]);
      else if (way === 'proxy') {
        expect([name, answer]).toEqual([name, expect.not.stringMatching(/reached|HTTP\/1\.1 200 OK/)]);
      } else expect([name, error, answer]).toEqual([name, expect.stringMatching(/./), '']);
    }
    // The control: the capture sees what goes by the gate, and the host heard what it was sent.
    expect(allowed).toBeGreaterThan(6);
    expect(heard.map(request => request.split(' ', 2).join(' '))).toEqual([
      'GET /ok',
      'GET /first',
      'GET /ok',
    ]);
    expect(elsewhere).toEqual([]);
    const allowedEvents = events.filter(({step, decision}) => step === 1 && decision === 'allowed');
    expect(allowedEvents).toHaveLength(ATTEMPTS.filter(({reaches}) => reaches).length);
    const byProxy = ATTEMPTS.filter(({way, reaches}) => way === 'proxy' && !reaches).length;
    expect(events.filter(({step, decision}) => step === 1 && decision !== 'allowed')).toHaveLength(byProxy);
    expect(killed.stdout).toMatch(/reached: plain HTTP\tconnect/);
    expect(after.stdout).toMatch(/200 OK/);
  });
});
