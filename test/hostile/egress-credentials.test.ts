// X1: the secret that the gate adds is for one host by TLS, and nobody else: no other host, no redirect, no packet in the
// clear, no process of the sandbox, no log. A hostile command tries to get it elsewhere.
import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {createCertificateAuthority} from '../support/certificates.ts';
import {ATTEMPTS, HOST, LIAR, OTHER, SECRET} from './support/egress-credential-attempts.js';

interface Probe {
  readonly exitCode: number;
  readonly answers: readonly string[];
  readonly heard: readonly {readonly name: string; readonly said: string}[];
  readonly found: string;
  readonly packets: number;
  readonly leaks: readonly string[];
  readonly plainIsSeen: boolean;
}

const PROBE = fileURLToPath(new URL('support/egress-credential-probe.js', import.meta.url));

function probe(kind: string): Probe {
  const authority = createCertificateAuthority();
  const issue = (issuer: typeof authority, ...names: readonly string[]) => {
    const {chain, key} = issuer.issue({names});
    return {cert: chain, key};
  };
  const servers = {
    registry: issue(authority, HOST),
    // Whoever is believed for one host is not for another.
    other: issue(authority, OTHER),
    liar: issue(createCertificateAuthority('Somebody Else'), LIAR),
  };
  const ran = spawnSync('unshare', ['-n', process.execPath, PROBE, kind], {
    input: JSON.stringify({servers, ca: authority.pem}),
    encoding: 'utf8',
    env: {...process.env, DOCKER_HOST: process.env['FORGE_TEST_DOCKER_HOST']},
    maxBuffer: 64_000_000,
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
}

describe.each(['bubblewrap', 'docker'])('X1 a secret at the gate of %s', kind => {
  test(`X1 ${ATTEMPTS.length} requests: only those for its host by TLS carry the secret`, () => {
    const {exitCode, answers, heard, found, packets, leaks, plainIsSeen} = probe(kind);
    expect(exitCode).toBe(0);
    for (const [index, answer] of answers.entries()) {
      const {name, heard: lines} = ATTEMPTS[index] ?? {};
      if (lines === undefined) continue;
      // An answer with the secret in its header is none.
      const wanted = name?.endsWith('come back')
        ? /HTTP\/1\.1 502/
        : /HTTP\/1\.1 (?:200 OK[\s\S]*reached|302)/;
      expect([name, answer]).toEqual([name, expect.stringMatching(wanted)]);
    }
    const withSecret = heard.filter(({said}) => said.includes(SECRET));
    expect(withSecret.map(({name}) => name)).toEqual(withSecret.map(() => 'registry'));
    expect(withSecret.map(({said}) => said.split(' ', 2).join(' ')).sort()).toEqual(
      ATTEMPTS.flatMap(({heard: lines = []}) => lines).sort(),
    );
    for (const {said} of withSecret) {
      expect(said.match(new RegExp(`^authorization: Bearer ${SECRET}\r$`, 'gim'))).toHaveLength(1);
      expect(said.match(/authorization:/gi)).toHaveLength(1);
    }
    // Nothing else was heard by that host, and the others heard requests without it.
    const others = heard.filter(({said}) => !said.includes(SECRET));
    expect(others.map(({name}) => name).sort()).toEqual(['other', 'other', 'plain']);
    expect(found).toBe('0\n0\n');
    // The control: what is said in the clear is seen.
    expect(plainIsSeen).toBe(true);
    expect(packets).toBeGreaterThan(20);
    expect(leaks).toEqual([]);
  });
});
