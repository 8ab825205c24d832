// Registries that a test makes, of one package each, for the package managers of this machine.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {createReadStream, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import type {RequestListener} from 'node:http';
import {dirname, join, normalize} from 'node:path';
import {temporaryDirectory} from './temporary-directory.ts';

/** A path and what is answered there, by scheme and host of who asks. */
type Made = Record<string, (origin: string) => string>;

/** The package `tiny` says "from the NAME registry", for npm, pip, git, cargo and apt. */
export function servePackages(): RequestListener {
  const root = temporaryDirectory();
  const made = {...npmRegistry(root), ...pipIndex(root), ...sparseIndex(root), ...aptRepository(root)};
  gitRepository(root);
  return serveTree(root, made);
}

/** Whoever does not send the value in the header is told to. */
export function onlyWith(authorization: string, serve: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers.authorization === authorization) serve(request, response);
    else response.writeHead(401, {'www-authenticate': 'Basic realm="packages"'}).end('who are you?');
  };
}

function serveTree(root: string, made: Made): RequestListener {
  return (request, response) => {
    const path = normalize((request.url ?? '/').split('?')[0] ?? '/');
    const make = made[path];
    if (make !== undefined) {
      const scheme = 'encrypted' in request.socket ? 'https' : 'http';
      response.setHeader('content-type', path.endsWith('/') ? 'text/html' : 'application/json');
      response.end(make(`${scheme}://${request.headers.host}`));
      return;
    }
    const file = join(root, path);
    if (statSync(file, {throwIfNoEntry: false})?.isFile()) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  };
}

function npmRegistry(root: string): Made {
  const bytes = archive(root, 'tiny-1.0.0.tgz', {
    'package/package.json': '{"name":"tiny","version":"1.0.0"}',
    'package/index.js': 'module.exports = "from the npm registry"',
  });
  const dist = {integrity: `sha512-${digest('sha512', bytes, 'base64')}`};
  const packument = (origin: string): string =>
    JSON.stringify({
      name: 'tiny',
      'dist-tags': {latest: '1.0.0'},
      versions: {
        '1.0.0': {name: 'tiny', version: '1.0.0', dist: {...dist, tarball: `${origin}/tiny-1.0.0.tgz`}},
      },
    });
  return {'/tiny': packument};
}

/** PEP 503 and 427. */
function pipIndex(root: string): Made {
  const wheel = 'tiny-1.0-py3-none-any.whl';
  const tree = writeTree({
    'tiny.py': 'said = "from the pip registry"\n',
    'tiny-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n',
    'tiny-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    'tiny-1.0.dist-info/RECORD': 'tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\n',
  });
  execFileSync('python3', ['-m', 'zipfile', '-c', join(root, wheel), ...readdirSync(tree)], {cwd: tree});
  return {'/simple/tiny/': () => `<!doctype html><a href="/${wheel}">${wheel}</a>`};
}

/** A sparse index of cargo (RFC 2789) with one crate. */
function sparseIndex(root: string): Made {
  const manifest = '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n';
  const bytes = archive(root, 'tiny-1.0.0.crate', {
    'tiny-1.0.0/Cargo.toml': manifest,
    'tiny-1.0.0/src/main.rs': 'fn main() { println!("from the cargo registry"); }\n',
  });
  const entry = {
    name: 'tiny',
    vers: '1.0.0',
    deps: [],
    cksum: digest('sha256', bytes),
    features: {},
    yanked: false,
  };
  return {
    '/index/config.json': origin => JSON.stringify({dl: `${origin}/{crate}-{version}.crate`}),
    '/index/ti/ny/tiny': () => `${JSON.stringify(entry)}\n`,
  };
}

/** A repository of one package without a signature. */
function aptRepository(root: string): Made {
  const control = {
    Package: 'tiny',
    Version: '1.0',
    Architecture: 'all',
    Maintainer: 'a <a@b>',
    Description: 'tiny',
  };
  const fields = (all: Record<string, string | number>): string =>
    Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join('');
  const tree = writeTree({'DEBIAN/control': fields(control), 'opt/tiny': 'from the apt registry'});
  execFileSync('dpkg-deb', ['--build', '--root-owner-group', tree, join(root, 'tiny.deb')]);
  const deb = readFileSync(join(root, 'tiny.deb'));
  const listed = {...control, Filename: './tiny.deb', Size: deb.length, SHA256: digest('sha256', deb)};
  return {'/Packages': () => fields(listed)};
}

/** As "dumb" HTTP serves it: files alone. */
function gitRepository(root: string): void {
  const work = writeTree({file: 'from the git registry'});
  const env = {...process.env, GIT_CONFIG_GLOBAL: '/dev/null', HOME: root};
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', work, ...args], {env});
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one');
  git('clone', '-q', '--bare', '.', join(root, 'repo.git'));
  git('-C', join(root, 'repo.git'), 'update-server-info');
}

function archive(root: string, name: string, files: Record<string, string>): Buffer {
  const tree = writeTree(files);
  execFileSync('tar', ['-C', tree, '-czf', join(root, name), ...readdirSync(tree)]);
  return readFileSync(join(root, name));
}

function writeTree(files: Record<string, string>): string {
  const tree = temporaryDirectory();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), {recursive: true});
    writeFileSync(join(tree, path), content);
  }
  return tree;
}

function digest(algorithm: string, bytes: Buffer, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHash(algorithm).update(bytes).digest(encoding);
}
