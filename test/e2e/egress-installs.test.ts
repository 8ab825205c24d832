// X1: what people want a way out for. Real package managers of this machine install from registries that the test makes.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {createReadStream, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import type {RequestListener} from 'node:http';
import {join, normalize} from 'node:path';
import {expect, test} from 'vitest';
import {openEgressWorld} from '../support/open-egress-world.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

/** Files below a directory, and what a function makes of other paths. */
function serveTree(root: string, make: Record<string, (origin: string) => string> = {}): RequestListener {
  return (request, response) => {
    const path = normalize((request.url ?? '/').split('?')[0] ?? '/');
    const made = make[path];
    if (made !== undefined) {
      const scheme = 'encrypted' in request.socket ? 'https' : 'http';
      response.setHeader('content-type', path.endsWith('/') ? 'text/html' : 'application/json');
      response.end(made(`${scheme}://${request.headers.host}`));
      return;
    }
    const file = join(root, path);
    const info = statSync(file, {throwIfNoEntry: false});
    if (info?.isFile()) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  };
}

function archive(root: string, name: string, files: Record<string, string>): Buffer {
  const tree = temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(tree, path, '..'), {recursive: true});
    writeFileSync(join(tree, path), content);
  }
  const out = join(root, name);
  execFileSync('tar', ['-C', tree, '-czf', out, ...readdirSync(tree)]);
  return readFileSync(out);
}

test('X1 npm installs from a registry by TLS', {tags: 'slow'}, async () => {
  const root = temporaryDirectory();
  const bytes = archive(root, 'tiny-1.0.0.tgz', {
    'package/package.json': '{"name":"tiny","version":"1.0.0"}',
    'package/index.js': 'module.exports = "from the registry"',
  });
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const packument = (origin: string) =>
    JSON.stringify({
      name: 'tiny',
      'dist-tags': {latest: '1.0.0'},
      versions: {
        '1.0.0': {name: 'tiny', version: '1.0.0', dist: {tarball: `${origin}/tiny-1.0.0.tgz`, integrity}},
      },
    });
  const world = await openEgressWorld({serve: serveTree(root, {'/tiny': packument})});
  const ran = await world.run(
    `npm install --no-audit --no-fund --registry ${world.secure} --cafile ca.pem tiny && node -p 'require("tiny")'`,
  );
  expect([world.text(ran), ran.exit_code]).toEqual([expect.stringContaining('from the registry'), 0]);
  const connections = world.events('egress_connection');
  expect(connections.length).toBeGreaterThan(0);
  for (const connection of connections) {
    expect(connection).toMatchObject({
      host: 'registry.test',
      decision: 'allowed',
      reason: 'Allowed by tools.run.egress.allow[0].',
      address: '127.0.0.1',
      bytes_down: expect.any(Number),
    });
  }
});

test('X1 pip installs from an index by TLS', {tags: 'slow'}, async () => {
  const root = temporaryDirectory();
  archive(root, 'tiny-1.0.tar.gz', {
    'tiny-1.0/PKG-INFO': 'Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n',
    'tiny-1.0/setup.py':
      'from setuptools import setup\nsetup(name="tiny", version="1.0", py_modules=["tiny"])\n',
    'tiny-1.0/tiny.py': 'print("from the index")\n',
  });
  const index = () => '<!doctype html><a href="/tiny-1.0.tar.gz">tiny-1.0.tar.gz</a>';
  const world = await openEgressWorld({serve: serveTree(root, {'/simple/tiny/': index})});
  const ran = await world.run(
    `/usr/bin/python3 -m pip download --no-deps --no-build-isolation --no-binary :all: --disable-pip-version-check --cert ca.pem --index-url ${world.secure}/simple/ tiny 2>&1 | tail -5; tar xzf tiny-1.0.tar.gz && /usr/bin/python3 tiny-1.0/tiny.py`,
  );
  expect([world.text(ran), ran.exit_code]).toEqual([expect.stringContaining('from the index'), 0]);
});

test('X1 git clones over HTTPS', {tags: 'slow'}, async () => {
  const root = temporaryDirectory();
  const env = {...process.env, GIT_CONFIG_GLOBAL: '/dev/null', HOME: root};
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', root, ...args], {env});
  git('init', '-q', 'work');
  writeFileSync(join(root, 'work/file'), 'from the remote');
  git('-C', 'work', 'add', '.');
  git('-C', 'work', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one');
  git('clone', '-q', '--bare', 'work', 'repo.git');
  git('-C', 'repo.git', 'update-server-info');
  const world = await openEgressWorld({serve: serveTree(root)});
  const ran = await world.run(
    `GIT_SSL_CAINFO=$PWD/ca.pem git clone -q ${world.secure}/repo.git /tmp/copy && cat /tmp/copy/file`,
  );
  expect([world.text(ran), ran.exit_code]).toEqual([expect.stringContaining('from the remote'), 0]);
});

test('X1 apt fetches a package by plain HTTP, and dpkg unpacks it', {tags: 'slow'}, async () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'tree/DEBIAN'), {recursive: true});
  writeFileSync(
    join(root, 'tree/DEBIAN/control'),
    'Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@b>\nDescription: tiny\n',
  );
  mkdirSync(join(root, 'tree/opt'));
  writeFileSync(join(root, 'tree/opt/tiny'), 'from the archive');
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', join(root, 'tree'), join(root, 'tiny.deb')]);
  const deb = readFileSync(join(root, 'tiny.deb'));
  const packages = `Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@b>\nFilename: ./tiny.deb\nSize: ${deb.length}\nSHA256: ${createHash('sha256').update(deb).digest('hex')}\nDescription: tiny\n`;
  const world = await openEgressWorld({serve: serveTree(root, {'/Packages': () => packages})});
  const ran = await world.run(`
    mkdir -p /tmp/apt/state/lists/partial /tmp/apt/cache/archives/partial /tmp/apt/etc
    echo 'deb [trusted=yes] ${world.plain}/ ./' >/tmp/apt/list
    : >/tmp/apt/status
    set -- -o Dir::State=/tmp/apt/state -o Dir::State::status=/tmp/apt/status -o Dir::Cache=/tmp/apt/cache \
      -o Dir::Etc=/tmp/apt/etc -o Dir::Etc::sourcelist=/tmp/apt/list -o Dir::Etc::sourceparts=- -o APT::Sandbox::User= \
      -o Dir::Log=/tmp/apt
    apt-get "$@" update && apt-get "$@" download tiny && dpkg-deb -x tiny_*.deb /tmp/unpacked && cat /tmp/unpacked/opt/tiny
  `);
  expect([world.text(ran), ran.exit_code]).toEqual([expect.stringContaining('from the archive'), 0]);
});

test('X1 curl gets what is allowed, and of a redirect to elsewhere it is told why not', {
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({
    serve: (request, response) => {
      if (request.url === '/away') response.writeHead(302, {location: 'https://evil.test/'}).end();
      else response.end('here');
    },
  });
  const ran = await world.run(
    `curl -sS --cacert ca.pem ${world.secure}/; curl -sS ${world.plain}/; curl -sSL --cacert ca.pem ${world.secure}/away; curl -s --noproxy '*' ${world.secure}/`,
  );
  expect(world.text(ran)).toMatch(
    /herehere[\s\S]*response 403[\s\S]*\[network: evil\.test:443: "evil\.test" is not in tools\.run\.egress\.allow/,
  );
  expect(ran.exit_code).toBe(6);
});
