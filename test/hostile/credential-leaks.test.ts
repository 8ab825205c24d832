import {chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {inspect} from 'node:util';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {ConfigError, createToolbox, type LogEvent, type ToolboxOptions} from '../../src/index.ts';
import {type CertificateAuthority, createCertificateAuthority} from '../support/certificates.ts';
import {type PathHandler, startHttpServer} from '../support/http-server.ts';
import {TEST_CHROMIUM} from '../support/parts.ts';
import {startProxyServer} from '../support/proxy-server.ts';
import {runCliHere} from '../support/run-cli-here.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const SECRET = 'hunter2-5f0c3aD9';
const OTHER = 'other-secret-77aa';
const HTML = {'Content-Type': 'text/html'};
const LONG = `<p>${'A page about nothing at all. '.repeat(30)}</p>`;
const PAGE: PathHandler = (_, response) => response.writeHead(200, HTML).end(`<h1>inside</h1>${LONG}`);

type Entry = NonNullable<
  NonNullable<NonNullable<ToolboxOptions['config']>['tools']>['webfetch']
>['credentials'];
type Credential = NonNullable<Entry>[number];

let authority: CertificateAuthority;
beforeAll(() => {
  authority = createCertificateAuthority();
});

interface Site {
  readonly good: Readonly<Record<string, PathHandler>>;
  readonly evil: Readonly<Record<string, PathHandler>>;
}

/** good.test has the credential; evil.test, its neighbours by name and port, and plain http have not. */
async function openWorld(
  site: (world: {port: number; evil: number; plain: number}) => Partial<Site>,
  settings: object = {},
) {
  const names = ['good.test', '*.good.test', 'evil.test', 'test', '127.0.0.1'];
  const certificate = authority.issue({names});
  const ports = {port: 0, evil: 0, plain: 0};
  const late =
    (which: keyof Site): PathHandler =>
    (request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const handlers = site(ports)[which] ?? {};
      const none: PathHandler = path === '/robots.txt' ? (_, robots) => robots.writeHead(404).end() : PAGE;
      (handlers[path] ?? none)(request, response);
    };
  const good = await startHttpServer({'*': late('good')}, {certificate});
  const evil = await startHttpServer({'*': late('evil')}, {certificate});
  const plain = await startHttpServer({'*': PAGE});
  onTestFinished(async () => {
    await Promise.all([good.close(), evil.close(), plain.close()]);
  });
  Object.assign(ports, {port: good.port, evil: evil.port, plain: plain.port});
  const place = temporaryDirectory();
  const logs: LogEvent[] = [];
  const open = (
    changes: {
      readonly credentials?: readonly Credential[];
      readonly env?: Readonly<Record<string, string>>;
    } & Partial<ToolboxOptions> = {},
  ) => {
    const {credentials = [credential(good.port)], env = {SECRET}, ...rest} = changes;
    const toolbox = createToolbox({
      resolver: {resolve: async name => (name === 'rebound.test' ? ['10.0.0.1'] : ['127.0.0.1'])},
      certificateAuthorities: [authority.pem],
      environment: {env, cwd: place, tempDir: place, homeDir: place},
      log: event => logs.push(event),
      ...rest,
      config: {
        tools: {
          mode: 'enabled',
          approval: {mode: 'auto'},
          webfetch: {
            enabled: true,
            allow_auto_execution: true,
            cache_dir: join(place, 'cache'),
            credentials,
            browser: {chromium_path: TEST_CHROMIUM, network_idle_ms: 15_000},
            security: {
              block_loopback: false,
              allow_insecure_overrides: true,
              allowed_ports: [good.port, evil.port, plain.port],
            },
            ...settings,
          },
        },
      },
    });
    onTestFinished(() => toolbox.close());
    return toolbox;
  };
  return {good, evil, plain, place, logs, open, ports};
}

function credential(port: number, changes: Partial<Credential> = {}): Credential {
  return {
    host: `good.test:${port}`,
    header: 'Authorization',
    prefix: 'Bearer ',
    env: 'SECRET',
    file: '',
    ...changes,
  };
}

/** Paths of a server that were asked for with the secret in any header. */
function shownTo({
  requests,
  requestHeaders,
}: Pick<Awaited<ReturnType<typeof startHttpServer>>, 'requests' | 'requestHeaders'>) {
  return requests.filter((_, index) => JSON.stringify(requestHeaders[index]).includes(SECRET));
}

const to =
  (status: number, target: string): PathHandler =>
  (_, response) =>
    response.writeHead(status, {Location: target}).end();

describe('where a credential goes', () => {
  test('R1: it goes with the page itself, to its origin', async () => {
    const world = await openWorld(() => ({}));
    const result = await world.open().webFetch({url: `https://good.test:${world.ports.port}/page`});
    expect(result.ok).toBe(true);
    expect(shownTo(world.good)).toEqual(['GET /page']);
    expect(world.good.requestHeaders.at(-1)?.authorization).toBe(`Bearer ${SECRET}`);
  });

  test.each([
    ...[301, 302, 303, 307, 308].map(
      status =>
        [`a ${status} to another host`, status, (w: Ports) => `https://evil.test:${w.evil}/`] as const,
    ),
    ['a redirect to plain http', 302, (w: Ports) => `http://good.test:${w.plain}/`],
    ['a redirect to another port', 302, (w: Ports) => `https://good.test:${w.evil}/`],
    ['a redirect to a host below', 302, (w: Ports) => `https://sub.good.test:${w.port}/`],
    ['a redirect to a host above', 302, (w: Ports) => `https://test:${w.port}/`],
    ['a redirect without a scheme', 302, (w: Ports) => `//evil.test:${w.evil}/`],
    ['a redirect to its address', 302, (w: Ports) => `https://127.0.0.1:${w.port}/`],
    ['a redirect with a trailing dot', 302, (w: Ports) => `https://good.test.:${w.port}/`],
    [
      'a redirect with a user in front',
      302,
      (w: Ports) => `https://good.test:${w.port}@evil.test:${w.evil}/`,
    ],
    [
      'a redirect with a backslash',
      302,
      (w: Ports) => `https:\\\\evil.test:${w.evil}\\@good.test:${w.port}/`,
    ],
  ] as const)('R1: not with %s', async (_, status, target) => {
    const world = await openWorld(ports => ({good: {'/start': to(status, target(ports))}}));
    await world.open().webFetch({url: `https://good.test:${world.ports.port}/start`});
    expect(shownTo(world.good)).toEqual(['GET /start']);
    expect([...shownTo(world.evil), ...shownTo(world.plain)]).toEqual([]);
  });

  test('R1: not any more once another origin had a say', async () => {
    const world = await openWorld(({port, evil}) => ({
      good: {'/start': to(302, `https://evil.test:${evil}/hop`)},
      evil: {'/hop': to(302, `https://good.test:${port}/delete?everything`)},
    }));
    const result = await world.open().webFetch({url: `https://good.test:${world.ports.port}/start`});
    expect(result.ok).toBe(true);
    expect(shownTo(world.good)).toEqual(['GET /start']);
  });

  test('R1: a page elsewhere cannot send a fetch there with it', async () => {
    const world = await openWorld(({port}) => ({evil: {'/': to(302, `https://good.test:${port}/private`)}}));
    await world.open().webFetch({url: `https://evil.test:${world.ports.evil}/`});
    expect(world.good.requests).toContain('GET /private');
    expect(shownTo(world.good)).toEqual([]);
  });

  test('R1: a redirect on its own origin keeps it', async () => {
    const world = await openWorld(() => ({good: {'/start': to(302, '/page')}}));
    await world.open().webFetch({url: `https://good.test:${world.ports.port}/start`});
    expect(shownTo(world.good)).toEqual(['GET /start', 'GET /page']);
  });

  test.each([
    ['http', (w: Ports) => `http://good.test:${w.plain}/`],
    ['another host', (w: Ports) => `https://evil.test:${w.evil}/`],
    ['another port', (w: Ports) => `https://good.test:${w.evil}/`],
    ['a host below', (w: Ports) => `https://sub.good.test:${w.port}/`],
    ['its address', (w: Ports) => `https://127.0.0.1:${w.port}/`],
  ] as const)('R1: not to %s that a call asks for', async (_, target) => {
    const world = await openWorld(() => ({}));
    const result = await world.open().webFetch({url: target(world.ports)});
    expect(result.ok).toBe(true);
    expect([world.good, world.evil, world.plain].flatMap(shownTo)).toEqual([]);
  });

  test('R1: not with robots.txt, wherever it leads', async () => {
    const world = await openWorld(() => ({good: {'/robots.txt': to(302, '/rules')}}));
    await world.open().webFetch({url: `https://good.test:${world.ports.port}/page`});
    expect(world.good.requests).toContain('GET /rules');
    expect(shownTo(world.good)).toEqual(['GET /page']);
  });

  test('R1: not to a server that does not prove who it is', async () => {
    const world = await openWorld(() => ({}));
    const toolbox = world.open({certificateAuthorities: []});
    expect(await toolbox.webFetch({url: `https://good.test:${world.ports.port}/page`})).toMatchObject({
      ok: false,
    });
    expect(world.good.requests).toEqual([]);
  });

  test('R1: not to an address that its name was rebound to', async () => {
    const world = await openWorld(() => ({}));
    const toolbox = world.open({
      credentials: [credential(world.ports.port, {host: `rebound.test:${world.ports.port}`})],
    });
    expect(await toolbox.webFetch({url: `https://rebound.test:${world.ports.port}/`})).toMatchObject({
      error: {code: 'ssrf_blocked'},
    });
    expect(world.good.requests).toEqual([]);
  });

  test('R1: not to a proxy', async () => {
    const world = await openWorld(() => ({}), {http: {use_system_proxy: true}});
    const proxy = await startProxyServer();
    onTestFinished(() => proxy.close());
    const toolbox = world.open({env: {SECRET, HTTPS_PROXY: proxy.origin}});
    expect((await toolbox.webFetch({url: `https://good.test:${world.ports.port}/page`})).ok).toBe(true);
    expect(proxy.connects).toEqual([`127.0.0.1:${world.ports.port}`]);
    expect(proxy.requests).toEqual([]);
    expect(shownTo(world.good)).toEqual(['GET /page']);
  });

  test('R1: the credential of one origin is not another one’s, though a redirect joins them', async () => {
    const world = await openWorld(({evil}) => ({good: {'/start': to(302, `https://evil.test:${evil}/`)}}));
    const toolbox = world.open({
      env: {SECRET, OTHER},
      credentials: [
        credential(world.ports.port),
        credential(0, {host: `evil.test:${world.ports.evil}`, env: 'OTHER'}),
      ],
    });
    await toolbox.webFetch({url: `https://good.test:${world.ports.port}/start`});
    expect(JSON.stringify(world.evil.requestHeaders)).not.toMatch(new RegExp(`${SECRET}|${OTHER}`));
  });

  test('R1: what a page loads in the browser never has it, on its own origin neither', async () => {
    const world = await openWorld(({port, evil}) => ({
      good: {
        '/page': (_, response) =>
          response.writeHead(200, HTML).end(`${LONG}
            <script src="/own.js"></script><link rel=stylesheet href="/own.css">
            <iframe src="/frame"></iframe><iframe src="https://evil.test:${evil}/frame"></iframe>
            <script>
              for (const host of ['good.test:${port}', 'evil.test:${evil}']) {
                fetch('https://' + host + '/cors', {mode: 'no-cors', credentials: 'include'});
                new EventSource('https://' + host + '/events');
              }
              document.title = document.cookie + JSON.stringify(performance.getEntries());
            </script>`),
        '/own.js': (_, response) => response.writeHead(200, {'Content-Type': 'text/javascript'}).end(''),
      },
    }));
    const result = await world
      .open()
      .webFetch({url: `https://good.test:${world.ports.port}/page`, force_browser: true});
    expect(result).toMatchObject({ok: true, value: {rendering_method: 'browser'}});
    expect(world.good.requests).toContain('GET /own.js');
    expect(shownTo(world.good)).toEqual(['GET /page']);
    expect(shownTo(world.evil)).toEqual([]);
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  test('R1: a script that goes elsewhere goes without it', async () => {
    const world = await openWorld(({evil}) => ({
      good: {
        '/page': (_, response) =>
          response
            .writeHead(200, HTML)
            .end(`${LONG}<script>location.href='https://evil.test:${evil}/to'</script>`),
      },
    }));
    await world.open().webFetch({url: `https://good.test:${world.ports.port}/page`, force_browser: true});
    expect(world.evil.requests).toContain('GET /to');
    expect(shownTo(world.evil)).toEqual([]);
  });
});

interface Ports {
  readonly port: number;
  readonly evil: number;
  readonly plain: number;
}

/** The bytes of every file below a directory. */
function everything(directory: string): string {
  return readdirSync(directory, {recursive: true, withFileTypes: true})
    .filter(entry => entry.isFile())
    .map(entry => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`)
    .join('\n');
}

describe('what is kept and said', () => {
  test('R1: it is in no answer, log line, event, artifact, cache file, report or printed object', async () => {
    const world = await openWorld(() => ({
      good: {
        '/denied': (_, response) => response.writeHead(401, 'No').end(),
        '/broken': (_, response) => response.writeHead(200, {...HTML, 'Content-Length': '99999'}).end('x'),
        '/cut': (_, response) => response.destroy(),
      },
    }));
    const workspace = join(world.place, 'tree');
    const runDirectory = join(world.place, 'run');
    mkdirSync(workspace);
    const toolbox = world.open({workspace, runDirectory});
    const answers: unknown[] = [];
    for (const path of ['/page', '/denied', '/broken', '/cut', '/page']) {
      answers.push(
        await toolbox.call({
          request_id: 'x',
          tool: 'web_fetch',
          params: {url: `https://good.test:${world.ports.port}${path}`},
        }),
      );
    }
    answers.push(
      await toolbox.explainPolicy('web_fetch', {url: `https://good.test:${world.ports.port}/page`}),
    );
    await toolbox.close();
    expect(shownTo(world.good).length).toBeGreaterThanOrEqual(4);
    const said = [JSON.stringify(answers), JSON.stringify(world.logs), everything(world.place)];
    said.push(inspect(toolbox, {depth: 20, showHidden: true}), JSON.stringify(toolbox.config));
    const report = await runCliHere(['report', runDirectory, '--out', join(world.place, 'report.html')]);
    said.push(report.stdout, report.stderr, everything(world.place));
    for (const text of said) expect(text).not.toContain(SECRET);
  });

  test('R1: config and doctor name where it is', async () => {
    const place = temporaryDirectory();
    const file = join(place, 'config.toml');
    writeFileSync(
      file,
      '[tools.webfetch]\nenabled = true\n[[tools.webfetch.credentials]]\nhost = "good.test"\nenv = "SECRET"\n',
    );
    for (const command of ['config', 'doctor']) {
      const {stdout, stderr} = await runCliHere([command, '--config', file], {
        env: {SECRET},
        cwd: place,
        homeDir: place,
      });
      expect(stdout + stderr).not.toContain(SECRET);
      if (command === 'config') expect(stdout).toContain('"SECRET"');
    }
  });

  test('NFR-WF-OP-03: whoever is asked is told that it goes along', async () => {
    const world = await openWorld(() => ({}), {allow_auto_execution: false});
    const questions: string[] = [];
    const workspace = join(world.place, 'tree');
    mkdirSync(workspace);
    const toolbox = createToolbox({
      workspace,
      runDirectory: join(world.place, 'run'),
      environment: {env: {SECRET}, cwd: world.place, tempDir: world.place, homeDir: world.place},
      approver: {
        ask: async question => {
          questions.push(JSON.stringify(question));
          return {answer: 'refuse'};
        },
      },
      config: {
        tools: {
          mode: 'enabled',
          webfetch: {
            enabled: true,
            credentials: [credential(world.ports.port)],
            // The guard refuses another port before anybody is asked.
            security: {allowed_ports: [world.ports.port]},
          },
        },
      },
    });
    onTestFinished(() => toolbox.close());
    await toolbox.call({
      request_id: 'x',
      tool: 'web_fetch',
      params: {url: `https://good.test:${world.ports.port}/page`},
    });
    expect(questions.join()).toContain('Authorization from environment variable SECRET');
    expect(questions.join()).not.toContain(`from environment variable SECRET ${SECRET}`);
    expect(questions.join()).not.toContain(SECRET);
  });

  test('FR-WF-CCH-KEY-01: a page is cached for the same credential, and for no other and none', async () => {
    const world = await openWorld(() => ({
      good: {
        '/page': (request, response) =>
          response
            .writeHead(200, HTML)
            .end(`<p>for ${request.headers.authorization?.slice(-4) ?? 'nobody'}</p>`),
      },
    }));
    const url = `https://good.test:${world.ports.port}/page`;
    const textOf = async (toolbox: ReturnType<typeof world.open>) => {
      const result = await toolbox.webFetch({url});
      return result.ok
        ? [result.value.chunks[0]?.text, result.value.final_url, ...result.value.notes]
        : result.error;
    };
    const mine = `for ${SECRET.slice(-4)}`;
    expect(await textOf(world.open())).toEqual([mine, url]);
    expect(await textOf(world.open())).toEqual([mine, url, 'cache_hit']);
    expect(await textOf(world.open({env: {SECRET: OTHER}}))).toEqual([`for ${OTHER.slice(-4)}`, url]);
    expect(await textOf(world.open({credentials: []}))).toEqual(['for nobody', url]);
    expect(
      await textOf(world.open({credentials: [credential(world.ports.port, {header: 'X-Api-Key'})]})),
    ).toEqual(['for nobody', url]);
    expect(await textOf(world.open())).toEqual([mine, url, 'cache_hit']);
  });

  test('R1: a snapshot that was read with it is gone for who has it not', async () => {
    const world = await openWorld(() => ({}));
    const url = `https://good.test:${world.ports.port}/page`;
    const first = await world.open().call({request_id: 'x', tool: 'web_read', params: {url}});
    const snapshot = JSON.stringify(first).match(/"snapshot":"([0-9a-f]{32})"/)?.[1] ?? '';
    expect(snapshot).not.toBe('');
    const again = await world
      .open()
      .call({request_id: 'x', tool: 'web_read', params: {url, snapshot, chunk: 1}});
    expect(again).toMatchObject({status: 'success'});
    await world.good.close();
    const stranger = await world
      .open({credentials: []})
      .call({request_id: 'x', tool: 'web_read', params: {url, snapshot, chunk: 1}});
    expect(stranger).not.toMatchObject({status: 'success'});
  });
});

describe('what stops start-up, without saying the secret', () => {
  const started = (
    entry: Partial<Credential>,
    env: Readonly<Record<string, string>> = {SECRET},
    workspace?: string,
  ) => {
    const place = temporaryDirectory();
    try {
      const toolbox = createToolbox({
        environment: {env, cwd: place, tempDir: place, homeDir: place},
        ...(workspace !== undefined && {workspace}),
        config: {tools: {mode: 'enabled', webfetch: {enabled: true, credentials: [credential(443, entry)]}}},
      });
      onTestFinished(() => toolbox.close());
      return 'started';
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  };

  test.each([
    ['a line break', {}, {SECRET: `${SECRET}\r\nX-Evil: 1`}, 'cannot stand in a header'],
    ['another control character', {}, {SECRET: `${SECRET}\u0000`}, 'cannot stand in a header'],
    ['what is not ASCII', {}, {SECRET: `${SECRET}\u00e9`}, 'cannot stand in a header'],
    ['nothing', {prefix: ''}, {SECRET: ''}, 'cannot stand in a header'],
    ['no variable', {}, {}, 'which is not set'],
    ['no source', {env: ''}, {SECRET}, 'either "env"'],
    ['two sources', {file: '/etc/hostname'}, {SECRET}, 'either "env"'],
    ['a missing file', {env: '', file: '/nonexistent/secret'}, {SECRET}, 'cannot be read (ENOENT)'],
    ['a header of ours', {header: 'Host'}, {SECRET}, 'a header that carries a credential'],
    ['a header with a line break', {header: 'X-A\r\nX-B'}, {SECRET}, 'a string without control characters'],
    ['a header with a blank', {header: 'X A'}, {SECRET}, 'a header that carries a credential'],
    ['a wildcard', {host: '*.good.test'}, {SECRET}, 'to be one host'],
    ['an address with a scheme', {host: 'https://good.test'}, {SECRET}, 'to be one host'],
  ] as const)('A9: %s', (_, entry, env, message) => {
    const said = started(entry, env);
    expect(said).toContain(message);
    expect(said).not.toContain(SECRET);
  });

  test('H5: a file in the workspace, where tools read it, by whatever link', () => {
    const workspace = temporaryDirectory();
    writeFileSync(join(workspace, 'secret'), SECRET);
    const link = join(temporaryDirectory(), 'link');
    symlinkSync(join(workspace, 'secret'), link);
    chmodSync(join(workspace, 'secret'), 0o600);
    for (const file of [join(workspace, 'secret'), link]) {
      expect(started({env: '', file}, {}, workspace)).toContain('is in the workspace');
    }
  });

  test('A9: a file elsewhere is read, but for the line break at its end', async () => {
    const world = await openWorld(() => ({}));
    const file = join(world.place, 'secret');
    writeFileSync(file, `${SECRET}\n`);
    const toolbox = world.open({credentials: [credential(world.ports.port, {env: '', file})]});
    await toolbox.webFetch({url: `https://good.test:${world.ports.port}/page`});
    expect(world.good.requestHeaders.at(-1)?.authorization).toBe(`Bearer ${SECRET}`);
  });
});
