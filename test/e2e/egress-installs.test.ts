// X1: what people want a way out for. Real package managers of this machine install from registries that the test makes.

import {describe, expect, test} from 'vitest';
import {openEgressWorld} from '../support/open-egress-world.ts';
import {onlyWith, servePackages} from '../support/package-registries.ts';
import {needs, type Part} from '../support/parts.ts';

/** Installs, and shows that what was installed works. `ca` is what is said of whom to trust. */
// biome-ignore format: a case is a line
const INSTALLS: readonly {
  readonly name: string;
  readonly parts: readonly Part[];
  readonly ca: string;
  readonly command: (origin: string, ca: string) => string;
}[] = [
  {name: 'npm', parts: [], ca: '--cafile ca.pem', command: (origin, ca) => `npm install --no-audit --no-fund --registry ${origin} ${ca} tiny && node -p 'require("tiny")'`},
  {
    name: 'pip',
    parts: ['pip'],
    ca: '--cert ca.pem',
    command: (origin, ca) =>
      `/usr/bin/python3 -m pip install -q --no-deps --disable-pip-version-check ${ca} --target /tmp/site --index-url ${origin}/simple/ tiny && PYTHONPATH=/tmp/site /usr/bin/python3 -c 'import tiny; print(tiny.said)'`,
  },
  {name: 'git', parts: ['git'], ca: '-c http.sslCAInfo=ca.pem', command: (origin, ca) => `git ${ca} clone -q ${origin}/repo.git /tmp/copy && cat /tmp/copy/file`},
  {
    name: 'cargo',
    parts: ['cargo'],
    ca: 'CARGO_HTTP_CAINFO=/workspace/ca.pem',
    // The sparse protocol is there, and not yet stable, in the version that Debian 12 has.
    command: (origin, ca) =>
      `${ca} CARGO_HOME=/tmp/cargo RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_SPARSE_REGISTRY=true /usr/bin/cargo install --index sparse+${origin}/index/ --root /tmp/root tiny && /tmp/root/bin/tiny`,
  },
];

describe.each(INSTALLS)('$name', ({name, parts, ca, command}) => {
  test('X1 it installs by TLS', {...needs('bubblewrap', ...parts), tags: 'slow'}, async () => {
    const world = await openEgressWorld({serve: servePackages()});
    const ran = await world.run(command(world.secure, ca));
    expect([world.text(ran), ran.exit_code]).toEqual([
      expect.stringContaining(`from the ${name} registry`),
      0,
    ]);
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

  test('X1 it installs from a registry for which the gate has the credential', {
    ...needs('bubblewrap', ...parts),
    tags: 'slow',
  }, async () => {
    const world = await openEgressWorld({
      serve: onlyWith('Basic dXNlcjpwYXNz', servePackages()),
      credential: {env: 'REGISTRY_TOKEN', prefix: 'Basic '},
      env: {REGISTRY_TOKEN: 'dXNlcjpwYXNz'},
    });
    // Nothing is said of whom to trust: the environment of the command does.
    const ran = await world.run(command(world.secure, ''));
    expect([world.text(ran), ran.exit_code]).toEqual([
      expect.stringContaining(`from the ${name} registry`),
      0,
    ]);
  });
});

test('X1 apt installs a package by plain HTTP into a root of its own', {
  ...needs('bubblewrap'),
  tags: 'slow',
}, async () => {
  const world = await openEgressWorld({serve: servePackages()});
  const ran = await world.run(`
    root=/tmp/root
    mkdir -p $root/etc $root/var/cache/archives/partial $root/var/lib/apt/lists/partial \
      $root/var/lib/dpkg/info $root/var/lib/dpkg/updates $root/var/log
    echo 'deb [trusted=yes] ${world.plain}/ ./' >$root/etc/list
    : >$root/var/lib/dpkg/status
    # The sandbox has one user, and nobody in it may give files to root.
    printf '#65534 #65534 %s\\n' '755 /opt' '644 /opt/tiny' >$root/var/lib/dpkg/statoverride
    cat >$root/apt.conf <<END
      Dir "$root"; Dir::State "$root/var/lib/apt"; Dir::State::status "$root/var/lib/dpkg/status";
      Dir::Cache "$root/var/cache"; Dir::Log "$root/var/log"; Dir::Etc "$root/etc";
      Dir::Etc::sourcelist "$root/etc/list"; Dir::Etc::sourceparts "-";
      APT::Sandbox::User ""; APT::Install-Recommends "false";
      DPkg::Options { "--root=$root"; "--force-not-root"; "--force-script-chrootless"; "--log=$root/var/log/dpkg.log"; };
END
    export APT_CONFIG=$root/apt.conf
    apt-get -q update && apt-get -qy install tiny && cat $root/opt/tiny && dpkg --root=$root -s tiny | grep Status
  `);
  expect([world.text(ran), ran.exit_code]).toEqual([
    expect.stringMatching(/from the apt registry[\s\S]*Status: install ok installed/),
    0,
  ]);
});

test('X1 curl gets what is allowed, and of a redirect to elsewhere it is told why not', {
  ...needs('bubblewrap', 'curl'),
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
