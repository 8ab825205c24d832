import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ConfigError} from '../../src/index.ts';
import {type PathHandler, startHttpServer} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {runCliHere} from '../support/run-cli-here.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const PAGE: PathHandler = (_, response) =>
  response.writeHead(200, {'Content-Type': 'text/html'}).end('<p>inside');
const to =
  (target: () => string): PathHandler =>
  (_, response) =>
    response.writeHead(302, {Location: target()}).end();

async function serve(handlers: Readonly<Record<string, PathHandler>>) {
  const server = await startHttpServer({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    ...handlers,
  });
  onTestFinished(() => server.close());
  return server;
}

interface Opening {
  readonly host: string;
  readonly cidr: string;
  readonly ports?: readonly number[];
}

/** Loopback is blocked as it is by default; every name under .test leads to `answer`. */
function openWith(
  allow_private: readonly Opening[],
  answer: readonly string[] = ['127.0.0.1'],
  ports = [80],
) {
  return openTestToolbox(
    ports,
    {
      allow_private: allow_private.map(entry => ({ports: [80, 443], ...entry})),
      security: {block_loopback: true, allow_insecure_overrides: true, allowed_ports: ports},
    },
    {resolver: {resolve: async () => [...answer]}},
  ).toolbox;
}

const codeOf = (outcome: {readonly ok: boolean; readonly error?: {readonly code: string}}) =>
  outcome.ok ? 'ok' : outcome.error?.code;

describe('a page of your own: the failure has the lines that open it', () => {
  /** What a command says, with the user's usual file, there or not. */
  const typed = (home: string, argv: readonly string[]) =>
    runCliHere(argv, {cwd: home, homeDir: home, env: {}, answers: []});
  const fetchIn = (home: string, url: string) => typed(home, ['fetch', url]);
  const firstTry = async (home: string, argv: readonly string[]) => {
    const file = join(home, '.config/forge-tools/config.toml');
    const refused = await typed(home, argv);
    expect(refused.code).toBe(1);
    const [, rest = ''] = refused.stderr.split(`add these lines at the end of ${file}:\n`);
    // `call` shows lists of the failure below.
    const [lines = ''] = rest.split('\n{');
    mkdirSync(dirname(file), {recursive: true});
    writeFileSync(file, lines);
    return typed(home, argv);
  };

  test.each(['localhost', '127.0.0.1', 'app.localhost'])('%s is read after one try', async host => {
    const server = await serve({'*': PAGE});
    const home = temporaryDirectory();
    const {code, stdout} = await firstTry(home, ['fetch', `http://${host}:${server.port}/`]);
    expect({code, stdout}).toEqual({code: 0, stdout: expect.stringContaining('inside')});
    // The ports of all other hosts are as before.
    const other = await fetchIn(home, `http://10.0.0.1:${server.port}/`);
    expect(other.stderr).toContain('Use one of 80, 443.');
    expect((await fetchIn(home, 'http://10.0.0.1/')).stderr).toContain('ssrf_blocked');
  });

  test.each([
    ['web_fetch', {}],
    ['web_read', {}],
    ['verify_quote', {quote: 'inside'}],
  ])('%s: an agent is told them too, before anybody is asked', async (tool, params) => {
    const server = await serve({'*': PAGE});
    const call = JSON.stringify({url: `http://127.0.0.1:${server.port}/`, ...params});
    const argv = ['call', tool, call, '--allow', 'web_fetch'];
    const {code, stdout} = await firstTry(temporaryDirectory(), argv);
    expect({code, stdout}).toEqual({code: 0, stdout: expect.stringContaining('inside')});
  });

  test.each([
    ['http://10.1.2.3/', 'host = "10.1.2.3"\ncidr = "10.0.0.0/8"\nports = [80]'],
    ['http://[fd00::1]:8080/', 'host = "fd00::1"\ncidr = "fc00::/7"\nports = [8080]'],
    ['http://localhost/', 'host = "localhost"\ncidr = "::1/128"\nports = [80]'],
    ['http://8.8.8.8:8080/', 'write allowed_ports = [80, 443, 8080] below [tools.webfetch.security] in '],
  ])('%s', async (url, lines) => {
    expect((await fetchIn(temporaryDirectory(), url)).stderr).toContain(lines);
  });

  test('a name that leads to a private address has them too, in the words of a program', async () => {
    const {toolbox} = openTestToolbox(
      [80],
      {security: {block_loopback: true}},
      {resolver: {resolve: async () => ['10.0.0.7']}},
    );
    const refused = await toolbox.webFetch({url: 'http://wiki.test/'});
    expect(refused.ok ? '' : refused.error.message).toBe(
      '"wiki.test" resolves to 10.0.0.7, a private address (10.0.0.0/8). Use a public address. If it is your own, pass tools.webfetch.allow_private = [{"host":"wiki.test","cidr":"10.0.0.0/8","ports":[80]}] in the config of createToolbox.',
    );
  });

  test('nothing is shown for a later hop, or for what no opening reaches', async () => {
    const server = await serve({'/': to(() => 'http://10.0.0.1/')});
    const toolbox = openWith([{host: 'wiki.test', cidr: '127.0.0.0/8', ports: [server.port]}]);
    for (const url of [`http://wiki.test:${server.port}/`, 'http://wiki.test:0/']) {
      const refused = await toolbox.webFetch({url});
      expect(refused.ok ? '' : refused.error.message).not.toContain('allow_private');
    }
  });
});

describe('allow_private', () => {
  test('A6: one host on one port is opened, and no other name, port or address', async () => {
    const server = await serve({'*': PAGE});
    const other = await serve({'*': PAGE});
    const {port} = server;
    const toolbox = openWith([{host: 'wiki.test', cidr: '127.0.0.0/8', ports: [port]}]);
    const reached = async (url: string) => codeOf(await toolbox.webFetch({url, no_cache: true}));
    expect(await reached(`http://wiki.test:${port}/`)).toBe('ok');
    expect(await reached(`http://WIKI.test.:${port}/`)).toBe('ok');
    expect(await reached(`http://other.test:${port}/`)).toBe('port_blocked');
    expect(await reached(`http://sub.wiki.test:${port}/`)).toBe('port_blocked');
    expect(await reached(`http://wiki.test:${other.port}/`)).toBe('port_blocked');
    expect(await reached('http://wiki.test/')).toBe('ssrf_blocked');
    expect(await reached(`http://127.0.0.1:${port}/`)).toBe('port_blocked');
    expect(await reached('http://127.0.0.1/')).toBe('ssrf_blocked');
    expect(other.requests).toEqual([]);
  });

  test.each([
    ['an address outside of the range', ['10.0.0.9'], 'ssrf_blocked'],
    ['one of several outside of it', ['127.0.0.1', '169.254.169.254'], 'ssrf_blocked'],
    ['a public address, on a port that is open for the range only', ['8.8.8.8'], 'port_blocked'],
  ])('A5: a host that has %s is refused', async (_, answer, code) => {
    const server = await serve({'*': PAGE});
    const toolbox = openWith([{host: 'wiki.test', cidr: '127.0.0.0/8', ports: [server.port]}], answer);
    expect(codeOf(await toolbox.webFetch({url: `http://wiki.test:${server.port}/`}))).toBe(code);
    expect(server.requests).toEqual([]);
  });

  test('A6: localhost has those of its addresses that are opened', async () => {
    const server = await serve({'*': PAGE});
    const toolbox = openWith([{host: 'localhost', cidr: '127.0.0.1/32', ports: [server.port]}]);
    expect(codeOf(await toolbox.webFetch({url: `http://localhost:${server.port}/`}))).toBe('ok');
    expect(codeOf(await toolbox.webFetch({url: `http://a.localhost:${server.port}/`}))).toBe('port_blocked');
  });

  test('FR-WF-05g additional_blocked_cidrs blocks what is opened', async () => {
    const server = await serve({'*': PAGE});
    const {toolbox} = openTestToolbox([80], {
      allow_private: [{host: 'wiki.test', cidr: '127.0.0.0/8', ports: [server.port]}],
      security: {
        block_loopback: true,
        allow_insecure_overrides: true,
        allowed_ports: [80],
        additional_blocked_cidrs: ['127.0.0.1/32'],
      },
    });
    expect(codeOf(await toolbox.webFetch({url: `http://wiki.test:${server.port}/`}))).toBe('ssrf_blocked');
  });

  test('FR-WF-07e a fetch on opened hosts may be led to another opened host', async () => {
    const sso = await serve({'*': PAGE});
    const wiki = await serve({'/page': to(() => `http://sso.test:${sso.port}/`)});
    const toolbox = openWith([
      {host: 'wiki.test', cidr: '127.0.0.0/8', ports: [wiki.port]},
      {host: 'sso.test', cidr: '127.0.0.0/8', ports: [sso.port]},
    ]);
    expect(codeOf(await toolbox.webFetch({url: `http://wiki.test:${wiki.port}/page`}))).toBe('ok');
  });

  test('FR-WF-07e a page of the public web leads to no opened host, not even one that the fetch came from', async () => {
    const wiki = await serve({'*': PAGE, '/out': to(() => `http://public.test:${outside.port}/back`)});
    const outside = await serve({'*': to(() => `http://wiki.test:${wiki.port}/secret`)});
    const {toolbox} = openTestToolbox([outside.port], {
      allow_private: [{host: 'wiki.test', cidr: '127.0.0.0/8', ports: [wiki.port]}],
    });
    for (const url of [`http://public.test:${outside.port}/`, `http://wiki.test:${wiki.port}/out`]) {
      expect(codeOf(await toolbox.webFetch({url}))).toBe('port_blocked');
    }
    expect(wiki.requests.filter(line => line.includes('/secret'))).toEqual([]);
  });

  test('FR-WF-11b nor does what such a page loads', needs('Chromium'), async () => {
    const wiki = await serve({'*': PAGE});
    const outside = await serve({
      '/': (_, response) =>
        response.writeHead(200, {'Content-Type': 'text/html'}).end(
          `<p>page<script>fetch('http://wiki.test:${wiki.port}/secret',{mode:'no-cors'})</script>
           <iframe src="http://wiki.test:${wiki.port}/frame"></iframe>`,
        ),
    });
    const {toolbox} = openTestToolbox([outside.port], {
      allow_private: [{host: 'wiki.test', cidr: '127.0.0.0/8', ports: [wiki.port]}],
      browser: {chromium_path: TEST_CHROMIUM},
    });
    const url = `http://public.test:${outside.port}/`;
    expect(codeOf(await toolbox.webFetch({url, force_browser: true}))).toBe('ok');
    expect(wiki.requests).toEqual([]);
  });
});

describe('what stops start-up', () => {
  const opened = (entry: Opening) => {
    try {
      openTestToolbox([80], {
        allow_private: [{ports: [80], ...entry}],
        security: {block_loopback: true, allow_insecure_overrides: false},
      });
      return 'started';
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  };

  test('an opening needs no second switch', () => {
    expect(opened({host: 'wiki.test', cidr: '10.0.0.0/8'})).toBe('started');
  });

  test.each([
    [{host: '*.test', cidr: '10.0.0.0/8'}, 'to be one host'],
    [{host: 'wiki.test/x', cidr: '10.0.0.0/8'}, 'to be one host'],
    [{host: 'user@wiki.test', cidr: '10.0.0.0/8'}, 'to be one host'],
    [{host: 'wiki.test:81', cidr: '10.0.0.0/8'}, 'to be one host'],
    [{host: '', cidr: '10.0.0.0/8'}, 'to be one host'],
    [{host: 'wiki.test', cidr: '10.0.0.0'}, 'to be a CIDR range'],
    [{host: 'wiki.test', cidr: '0.0.0.0/0'}, 'part of one range that is blocked'],
    [{host: 'wiki.test', cidr: '8.8.8.0/24'}, 'part of one range that is blocked'],
    [{host: 'wiki.test', cidr: '::/0'}, 'part of one range that is blocked'],
    [{host: 'wiki.test', cidr: '8000::/1'}, 'part of one range that is blocked'],
    [{host: '10.1.2.3', cidr: '10.9.0.0/16'}, 'a range that holds 10.1.2.3'],
    [{host: 'wiki.test', cidr: '10.0.0.0/8', ports: [0]}, 'integers from 1 to 65535'],
    [{host: 'wiki.test', cidr: '10.0.0.0/8', ports: []}, 'at least one port'],
  ])('A9: %j', (entry, message) => {
    expect(opened(entry)).toContain(message);
  });

  test('FR-WF-05b what is opened is said at start-up', () => {
    const {logs} = openTestToolbox([80], {
      allow_private: [
        {host: 'wiki.test', cidr: '10.1.0.0/16', ports: [443]},
        {host: 'wiki.test', cidr: '10.2.0.0/16', ports: [443]},
      ],
    });
    expect(logs.map(({message}) => message)).toContain(
      'SSRF protection opened for wiki.test:443 in 10.1.0.0/16, 10.2.0.0/16',
    );
  });
});
