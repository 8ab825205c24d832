import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {afterAll, describe, expect, test} from 'vitest';
import {systemClock} from '../src/core/clock.ts';
import {Deadline} from '../src/core/deadline.ts';
import {ok} from '../src/core/result.ts';
import {checkUrl} from '../src/web/guard/check-url.ts';
import {createGuard, HostPins, type SsrfValidator} from '../src/web/guard/guard.ts';
import {readGuardPolicy} from '../src/web/guard/policy.ts';
import {parseUrl} from '../src/web/url.ts';
import {startHttpServer} from './support/http-server.ts';
import {openTestToolbox} from './support/open-test-toolbox.ts';
import {temporaryDirectory} from './support/temporary-directory.ts';

test('T-WF-INFRA-01 the guard takes a stubbed SsrfValidator and asks no system resolver', async () => {
  const asked: string[] = [];
  const stub: SsrfValidator = {
    validateIp: () => ok(),
    resolveAndValidate: async host => {
      asked.push(host);
      return ok(['203.0.113.9', '2001:db8::9']);
    },
  };
  const policy = readGuardPolicy({
    block_private_ips: true,
    block_loopback: true,
    block_link_local: true,
    block_reserved: true,
    allowed_ports: [],
    additional_blocked_cidrs: [],
    max_dns_attempts: 2,
    allow_insecure_overrides: false,
  });
  const url = parseUrl('https://no-such-host.invalid/');
  if (!policy.ok || !url.ok) throw new Error('expected a policy and a URL');
  const checked = checkUrl(url.value, policy.value.policy, true);
  if (!checked.ok) throw new Error('expected an allowed URL');
  const budget = new Deadline(1000, systemClock);
  const target = await createGuard(stub, policy.value.policy).authorize(
    checked.value,
    new HostPins(),
    budget,
  );
  budget.close();
  expect(target).toMatchObject({ok: true, value: {addresses: ['2001:db8::9', '203.0.113.9']}});
  expect(asked).toEqual(['no-such-host.invalid']);
});

test('T-WF-INFRA-02 the test server answers what it was told, on loopback, and says what it was asked', async () => {
  const server = await startHttpServer({'/a': (_, response) => response.writeHead(200).end('scripted')});
  const answers: string[] = [];
  for (let round = 0; round < 2; round += 1) answers.push(await (await fetch(`${server.origin}/a?b`)).text());
  await server.close();
  expect(answers).toEqual(['scripted', 'scripted']);
  expect(server.requests).toEqual(['GET /a?b', 'GET /a?b']);
  expect(new URL(server.origin).hostname).toBe('127.0.0.1');
  await expect(fetch(server.origin)).rejects.toThrow();
});

describe('T-WF-INFRA-03 cache directories', () => {
  const directories: string[] = [];
  afterAll(() => expect(directories.filter(directory => existsSync(directory))).toEqual([]));

  test('T-WF-INFRA-03 each test has one of its own, which is gone when the test is', async () => {
    const server = await startHttpServer({
      '*': (_, response) => response.writeHead(200, {'Content-Type': 'text/plain'}).end('text'),
    });
    const [one, other] = [openTestToolbox([server.port]), openTestToolbox([server.port])];
    directories.push(one.cacheDir, other.cacheDir, temporaryDirectory());
    expect(new Set(directories).size).toBe(3);
    await one.toolbox.webFetch({url: server.origin});
    expect(readdirSync(one.cacheDir).length).toBeGreaterThan(0);
    expect(readdirSync(other.cacheDir)).toEqual([]);
    await server.close();
  });
});

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly optionalDependencies?: Readonly<Record<string, string>>;
        readonly engines?: {readonly node?: string};
      }
    >
  >;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const places = ['', 'bench/', 'test/mutation/', 'test/package/'];

test.each(places)(
  'policy: npm ci takes %spackage-lock.json: each optional package of a package is in it',
  place => {
    const {packages} = JSON.parse(readFileSync(`${root}${place}package-lock.json`, 'utf8')) as LockFile;
    const missing = Object.entries(packages).flatMap(([path, {optionalDependencies = {}}]) =>
      Object.keys(optionalDependencies)
        .filter(name => !placesOf(path, name).some(found => found in packages))
        .map(name => `${path || 'the project'}: ${name}`),
    );
    expect(missing).toEqual([]);
  },
);

/** `engines` of pdfjs-dist is left out of the lock file by hand: its legacy build runs on Node 20 (decision 0024). */
test('policy: npm ci warns about no package on Node 20', () => {
  const {packages} = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as LockFile;
  const allows20 = (range: string) => {
    const [, sign, major] = /^\s*([^\d\s]*)\s*(\d+)/.exec(range) ?? [];
    return (
      major === undefined || (sign === '>=' || sign === '>' ? Number(major) <= 20 : Number(major) === 20)
    );
  };
  const others = Object.entries(packages).filter(
    ([, {engines}]) => engines?.node !== undefined && !engines.node.split('||').some(allows20),
  );
  expect(others).toEqual([]);
});

/** Where a package may be that another one asks for: beside it, or in a folder above. */
function placesOf(path: string, name: string): readonly string[] {
  const parts = path === '' ? [] : path.split('/node_modules/');
  return [
    ...parts.map((_, end) => `${parts.slice(0, end + 1).join('/node_modules/')}/node_modules/${name}`),
    `node_modules/${name}`,
  ];
}
