import {spawn} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../../dist/bin/forge-tools.js', import.meta.url));

interface Site {
  readonly server: TestHttpServer;
  readonly cwd: string;
  readonly out: string;
  readonly args: readonly string[];
  /** `count` addresses of the site, spread over a hundred hosts. */
  readonly list: (count: number) => void;
}

/** A site that answers under every address of 127.0.0.0/8, and a directory to fetch it into. */
async function serveEverywhere(handler: PathHandler): Promise<Site> {
  const robots: PathHandler = (_, response) => response.writeHead(404).end();
  const server = await startHttpServer({'/robots.txt': robots, '*': handler}, {address: '0.0.0.0'});
  onTestFinished(() => server.close());
  const cwd = temporaryDirectory();
  writeFileSync(
    join(cwd, 'config.toml'),
    `[tools.webfetch]
cache_dir = ""
[tools.webfetch.security]
allow_insecure_overrides = true
block_loopback = false
allowed_ports = [${server.port}]
`,
  );
  return {
    server,
    cwd,
    out: join(cwd, 'out'),
    args: ['fetch', '--from', 'urls.txt', '--out', 'out', '--config', 'config.toml', '--log-level', 'silent'],
    list: count => {
      const urls = Array.from(
        {length: count},
        (_, at) => `http://127.0.0.${(at % 100) + 1}:${server.port}/${at}`,
      );
      writeFileSync(join(cwd, 'urls.txt'), urls.join('\n'));
    },
  };
}

const page: PathHandler = (request, response) =>
  response
    .writeHead(200, {'Content-Type': 'text/html'})
    .end(`<title>Page</title><h1>${request.url}</h1><p>${'Some text. '.repeat(300)}`);

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
}

/** Runs a program; `react` sees the output so far, and may type or send signals. */
function follow(
  command: string,
  args: readonly string[],
  {cwd, env = {}}: {readonly cwd: string; readonly env?: Readonly<Record<string, string>>},
  react: (output: string, child: {readonly type: (text: string) => void; readonly pid: number}) => void,
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env: {PATH: process.env['PATH'], HOME: process.env['HOME'], ...env},
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  const listen = (part: Buffer): void => {
    output += part.toString();
    react(output, {type: text => child.stdin.write(text), pid: child.pid ?? 0});
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({code, signal, output}));
  });
}

/** The command on a pseudo-terminal. */
function onTerminal(
  site: Site,
  more: readonly string[],
  react: Parameters<typeof follow>[3],
  env = {},
): Promise<Ended> {
  const command = [process.execPath, MAIN, ...site.args, ...more].map(word => `'${word}'`).join(' ');
  return follow('script', ['-qefc', command, '/dev/null'], {cwd: site.cwd, env}, react);
}

const summaryOf = (output: string) => JSON.parse(output.trim().split('\n').at(-1) ?? '').summary;

describe('fetch --from', () => {
  test('policy: 2,000 pages take no more memory than 200, and none is lost', {
    tags: 'stress',
    timeout: 120_000,
  }, async () => {
    const site = await serveEverywhere(page);
    const fetchAll = async (count: number): Promise<number> => {
      site.list(count);
      let peak = 0;
      const {code, output} = await follow(
        process.execPath,
        [MAIN, ...site.args, '--delay', '0', '--concurrency', '32'],
        {cwd: site.cwd},
        (_, {pid}) => {
          const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
          peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
        },
      );
      expect(code).toBe(0);
      expect(output).not.toContain('Warning');
      expect(summaryOf(output)).toMatchObject({listed: count, left: 0});
      return peak;
    };
    const few = await fetchAll(200);
    const many = await fetchAll(2000);
    const pages = readdirSync(site.out, {recursive: true}).filter(name => String(name).endsWith('.md'));
    expect(pages).toHaveLength(2000);
    expect(new Set(site.server.requests.filter(request => !request.includes('robots'))).size).toBe(2000);
    // In KiB. The pages of the second run together are seven times as much.
    expect(many - few).toBeLessThan(100_000);
  });

  test('policy: a terminal sees one line that moves, and sentences at the end', needs('script'), async () => {
    const site = await serveEverywhere((request, response) => {
      if (request.url === '/3') response.writeHead(404).end();
      else page(request, response);
    });
    site.list(40);
    const {code, output} = await onTerminal(site, ['--delay', '20'], () => {}, {TERM: 'xterm'});
    expect(code).toBe(1);
    expect(output).toMatch(/\r█*░* +\d+% {2}\u001b\[1m\d+\/40\u001b\[22m {2}/);
    // Nothing but the carriage return moves the cursor, and no frame is a line of its own.
    expect(output.replaceAll(/\u001b\[\d+m/g, '')).not.toContain('\u001b');
    const [moving = '', ...sentences] = output.split('\n');
    expect(moving.split('\r').length).toBeGreaterThan(2);
    expect(sentences.join('\n')).toContain('1 failed');
    expect(sentences.join('\n')).toContain('http_4xx 1');
  });

  test('policy: NO_COLOR is honoured', needs('script'), async () => {
    const site = await serveEverywhere(page);
    site.list(5);
    const {code, output} = await onTerminal(site, [], () => {}, {TERM: 'xterm', NO_COLOR: '1'});
    expect(code).toBe(0);
    expect(output).not.toContain('\u001b');
    expect(output).toContain('5 pages of 5');
  });

  test(
    'policy: Ctrl-C ends it with 130 and says how to go on; going on fetches only the rest',
    needs('script'),
    async () => {
      const site = await serveEverywhere((request, response) => {
        if (Number(request.url?.slice(1)) < 50) page(request, response);
        // The others are never answered.
      });
      site.list(150);
      let typed = false;
      const {code, output} = await onTerminal(site, ['--delay', '0'], (seen, {type}) => {
        if (typed || !/\D\d\d\/150/.test(seen)) return;
        typed = true;
        type('\u0003');
      });
      expect(code).toBe(130);
      expect(output).toMatch(/Interrupted: \d+ left\. The same command goes on from here\./);
      const done = readFileSync(join(site.out, 'manifest.jsonl'), 'utf8').trim().split('\n').length;
      expect(done).toBeGreaterThanOrEqual(10);
      expect(readdirSync(site.out)).not.toContain('.partial');

      site.list(50);
      const before = site.server.requests.length;
      const rest = await follow(
        process.execPath,
        [MAIN, ...site.args, '--delay', '0'],
        {cwd: site.cwd},
        () => {},
      );
      expect(rest.code).toBe(0);
      const {skipped, fetched} = summaryOf(rest.output);
      expect({skipped, sum: skipped + fetched}).toEqual({skipped: done, sum: 50});
      const asked = site.server.requests.slice(before).filter(request => !request.includes('robots'));
      expect(asked).toHaveLength(fetched);
    },
  );

  test('policy: a killed batch loses nothing but the pages that were under way', {
    tags: 'stress',
  }, async () => {
    const site = await serveEverywhere(page);
    site.list(300);
    const killed = await follow(
      process.execPath,
      [MAIN, ...site.args, '--delay', '0'],
      {cwd: site.cwd},
      (output, {pid}) => {
        if (output.split('\n').length > 40) process.kill(pid, 'SIGKILL');
      },
    );
    expect(killed.signal).toBe('SIGKILL');
    const told = killed.output.split('\n').filter(line => line.endsWith('}')).length;
    const rest = await follow(
      process.execPath,
      [MAIN, ...site.args, '--delay', '0'],
      {cwd: site.cwd},
      () => {},
    );
    expect(rest.code).toBe(0);
    const {skipped, fetched, left} = summaryOf(rest.output);
    expect(skipped).toBeGreaterThanOrEqual(told);
    expect({sum: skipped + fetched, left}).toEqual({sum: 300, left: 0});
  });
});
