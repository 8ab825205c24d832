import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {countTokens} from '../../src/index.ts';
import {createManualClock} from '../support/manual-clock.ts';
import {startRawServer} from '../support/raw-server.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {CODECS, gzipOfSize, PAIRS} from './support/encoding-codecs.ts';
import {type EncodingHost, openEncodingHost, respond, sayResult} from './support/encoding-host.ts';

/** One below the cap, the cap, one above. */
const OFFSETS = [-1, 0, 1] as const;
type Three<Value> = readonly [below: Value, at: Value, above: Value];

async function around<Value>(measure: (offset: number) => Promise<Value>): Promise<Three<Value>> {
  const [below, at, above] = OFFSETS;
  return [await measure(below), await measure(at), await measure(above)];
}

/** What the host says to a response that is made for every offset. */
const sayAround = (host: EncodingHost, response: (offset: number) => string | Buffer) =>
  around(offset => {
    host.put(`/${offset}`, response(offset));
    return host.say(`/${offset}`);
  });

const LIMIT = 2048;
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const x = (count: number): string => 'x'.repeat(count);

describe('max_download_bytes', () => {
  const open = () => openEncodingHost({max_download_bytes: LIMIT});
  const expected = ['ok', 'ok', 'response_too_large'];
  const codes = (said: Three<string>): readonly string[] => said.map(text => text.split(/[:/]/, 1)[0] ?? '');

  test.each([
    ['a declared length', (size: number) => respond(x(size))],
    ['until close', (size: number) => `${OK}\r\n${x(size)}`],
    [
      'one chunk',
      (size: number) =>
        `${OK}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${x(size)}\r\n0\r\n\r\n`,
    ],
    [
      'chunks of one byte',
      (size: number) => `${OK}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(size)}0\r\n\r\n`,
    ],
    ['a coded body, as it comes', (size: number) => respond(gzipOfSize('x', size), {coding: 'gzip'})],
    [
      'a coded body between its layers',
      (size: number) => respond(CODECS[3]?.encode(gzipOfSize('x', size)) ?? '', {coding: 'gzip, br'}),
    ],
  ])('FR-WF-10e %s', async (_, response) => {
    const host = await open();
    expect(codes(await sayAround(host, offset => response(LIMIT + offset)))).toEqual(expected);
  });

  test.each([...CODECS, ...PAIRS])('ruling C2 decoded bytes of $name', async ({coding, encode}) => {
    const host = await open();
    const said = await sayAround(host, offset => respond(encode(x(LIMIT + offset)), {coding}));
    expect(codes(said)).toEqual(expected);
  });

  test('the size in the refusal is the declared one', async () => {
    const host = await open();
    host.put('/', respond(x(LIMIT + 1)));
    expect(await host.fetch('/')).toMatchObject({error: {details: {size: LIMIT + 1, max_bytes: LIMIT}}});
  });
});

describe('the head of a response', () => {
  test.each(
    // biome-ignore format: a case is a line
    [
      [
      'ruling C2 65,536 bytes',
      (offset: number) => {
        const rest = 'Content-Length: 0\r\nA: \r\n\r\n';
        const size = 65_536 + offset - OK.length - rest.length;
        return `${OK}${rest.replace('A: ', `A: ${x(size)}`)}`;
      },
      'network/header_block_too_large',
    ],
      ['ruling C2 256 fields', (offset: number) => `${OK}Content-Length: 0\r\n${'A: b\r\n'.repeat(254 + offset)}\r\n`, 'network/too_many_header_fields'],
      ['ruling C1 8 informational responses', (offset: number) => `${'HTTP/1.1 100 x\r\n\r\n'.repeat(8 + offset)}${OK}Content-Length: 0\r\n\r\n`, 'network/too_many_informational'],
      ['15 digits of a length', (offset: number) => `${OK}Content-Length: ${'0'.repeat(15 + offset)}\r\n\r\n`, 'network/invalid_content_length'],
      ['ruling C2 2 content codings', (offset: number) => `${OK}Content-Encoding: ${Array(2 + offset).fill('gzip')}\r\nContent-Length: 0\r\n\r\n`, 'network/too_many_content_encodings'],
    ],
  )('%s', async (_, response, above) => {
    const host = await openEncodingHost();
    expect(await sayAround(host, response)).toEqual(['ok: ', 'ok: ', above]);
  });

  test.each([
    ['status_text', (size: number) => respond('', {status: `404 ${x(size)}`})],
    ['retry_after', (size: number) => respond('', {status: '503 x', fields: `Retry-After: ${x(size)}\r\n`})],
  ])('100 characters of %s are repeated', async (field, response) => {
    const host = await openEncodingHost();
    const lengths = await around(async offset => {
      host.put(`/${offset}`, response(100 + offset));
      const result = await host.fetch(`/${offset}`);
      return result.ok ? undefined : String(result.error.details[field]).length;
    });
    expect(lengths).toEqual([99, 100, 100]);
  });
});

describe('chunks', () => {
  const chunked = (body: string): string => `${OK}Transfer-Encoding: chunked\r\n\r\n${body}`;
  const OVERHEAD = 16_384;
  test.each(
    // biome-ignore format: a case is a line
    [
      ['16,384 bytes of extension', (offset: number) => chunked(`1;${x(OVERHEAD + offset)}\r\nx\r\n0\r\n\r\n`), 'network/chunk_overhead_too_large'],
      ['16,384 bytes of extensions together', (offset: number) => chunked(`1;${x(OVERHEAD / 2)}\r\nx\r\n0;${x(OVERHEAD / 2 + offset)}\r\n\r\n`), 'network/chunk_overhead_too_large'],
      ['16,384 bytes of trailers', (offset: number) => chunked(`1\r\nx\r\n0\r\nA:${x(OVERHEAD - 2 + offset)}\r\n\r\n`), 'network/chunk_overhead_too_large'],
      ['12 digits of a chunk size', (offset: number) => chunked(`${'1'.padStart(12 + offset, '0')}\r\nx\r\n0\r\n\r\n`), 'network/malformed_chunk'],
    ],
  )('ruling C2 %s', async (_, response, above) => {
    const host = await openEncodingHost();
    expect(await sayAround(host, response)).toEqual(['ok: x', 'ok: x', above]);
  });
});

describe('redirects', () => {
  const chain = (host: EncodingHost, start: string, count: number): void => {
    for (let left = count; left > 0; left -= 1) {
      const to = left === 1 ? '/end' : `${start}-${left - 1}`;
      const path = left === count ? start : `${start}-${left}`;
      host.put(path, respond('', {status: '302 Found', fields: `Location: ${to}\r\n`}));
    }
  };

  test.each([0, 5, 20])('FR-WF-07f max_redirects = %d', async max => {
    const host = await openEncodingHost({max_redirects: max});
    host.put('/end', respond('end'));
    for (const offset of OFFSETS) chain(host, `/${offset}`, max + offset);
    const [below, at, above] = await around(offset => host.say(max + offset < 1 ? '/end' : `/${offset}`));
    expect([below, at, above]).toEqual(['ok: end', 'ok: end', 'redirect_limit/']);
  });

  test('FR-WF-ROBOTS-FETCH-01 of robots.txt', async () => {
    const said = await around(async offset => {
      const host = await openEncodingHost();
      chain(host, '/robots.txt', 5 + offset);
      host.put('/end', respond('User-agent: *\nDisallow: /'));
      return host.say('/');
    });
    expect(said).toEqual(['robots_disallowed/', 'robots_disallowed/', 'robots_unavailable/redirect_limit']);
  });

  test('a Location as long as a head may be is followed', async () => {
    const host = await openEncodingHost();
    const path = `/${x(65_000)}`;
    host.put('/', respond('', {status: '302 Found', fields: `Location: ${path}\r\n`}));
    host.put(path, respond('end'));
    expect(await host.say('/')).toBe('ok: end');
  });
});

describe('robots.txt', () => {
  test.each([
    ['plain', (text: string) => respond(text)],
    ['gzip', (text: string) => respond(CODECS[0]?.encode(text) ?? '', {coding: 'gzip'})],
    ['brotli', (text: string) => respond(CODECS[3]?.encode(text) ?? '', {coding: 'br'})],
  ])('FR-WF-ROBOTS-SIZE-01 max_robots_bytes, %s: a rule that the limit cuts is none', async (_, response) => {
    const said = await around(async offset => {
      const host = await openEncodingHost({robots: {max_robots_bytes: 1024}});
      const rule = 'User-agent: *\nDisallow: /';
      host.put('/robots.txt', response(`#${x(1024 + offset - rule.length - 2)}\n${rule}`));
      host.put('/', respond('page'));
      return host.say('/');
    });
    expect(said).toEqual(['robots_disallowed/', 'robots_disallowed/', 'ok: page']);
  });

  test('200 characters of a rule are repeated', async () => {
    const lengths = await around(async offset => {
      const host = await openEncodingHost();
      const path = `/${x(200 + offset - 'Disallow: /'.length)}`;
      host.put('/robots.txt', respond(`User-agent: *\nDisallow: ${path}`));
      const result = await host.fetch(path);
      return result.ok ? undefined : String(result.error.details['rule']).length;
    });
    expect(lengths).toEqual([199, 200, 200]);
  });

  test('FR-WF-ROBOTS-CACHE-03 robots_cache_entries: one origin more pushes the first out', async () => {
    const asked = await around(async offset => {
      const {server, toolbox} = await openEncodingHost({robots_cache_entries: 2});
      const hosts = Array.from({length: 2 + offset}, (_, index) => `127.0.1.${index + 1}`);
      for (const host of [...hosts, '127.0.1.1'])
        await toolbox.webFetch({url: `http://${host}:${server.port}/`});
      return server.heads.filter(
        head => head.startsWith('GET /robots.txt ') && head.includes('\r\nHost: 127.0.1.1:'),
      ).length;
    });
    expect(asked).toEqual([1, 1, 2]);
  });

  test('FR-WF-08f robots_cache_ttl_hours', async () => {
    const asked = await around(async offset => {
      const clock = createManualClock();
      const {server, say} = await openEncodingHost({robots_cache_ttl_hours: 1}, {clock});
      await say('/');
      clock.advance(3_600_000 + offset);
      await say('/');
      return server.heads.filter(head => head.startsWith('GET /robots.txt ')).length;
    });
    expect(asked).toEqual([1, 2, 2]);
  });
});

describe('time', () => {
  test.each(['/', '/robots.txt'])('FR-WF-TIMEOUT-02 timeout_seconds while %s is awaited', async slowPath => {
    const said = await around(async offset => {
      const clock = createManualClock();
      const server = await startRawServer((socket, {head}) => {
        const path = head.split(' ', 2)[1] ?? '';
        if (path === slowPath) clock.advance(7000 + offset);
        socket.end(path === '/' ? respond('page') : respond('', {status: '404 x'}));
      });
      const host = await openEncodingHost(
        {timeout_seconds: 7, security: {allowed_ports: [server.port]}},
        {clock},
      );
      const result = await host.toolbox.webFetch({url: `${server.origin}/`});
      await server.close();
      return sayResult(result);
    });
    const late = slowPath === '/' ? 'timeout/headers' : 'robots_unavailable/timeout';
    expect(said).toEqual(['ok: page', late, late]);
  });
});

describe('addresses', () => {
  test.each([1, 63, 64, 65, 100])(
    'ruling A5 every answer is checked: of 100, number %i is blocked',
    async blockedAt => {
      const answers = Array.from({length: 100}, (_, index) => `127.0.2.${index + 1}`);
      const {server, toolbox} = await openEncodingHost({}, {resolver: {resolve: async () => answers}});
      const ask = async () => sayResult(await toolbox.webFetch({url: `http://many.test:${server.port}/`}));
      expect(await ask()).toBe('http_4xx/404');
      answers[blockedAt - 1] = '10.0.0.1';
      expect(await ask()).toBe('ssrf_blocked/');
    },
  );

  test('T-WF-SSRF-13 max_dns_attempts: the third address is not tried', async () => {
    const said = await around(async offset => {
      const good = 2 + offset;
      const server = await startRawServer(socket => socket.end(respond('', {status: '404 x'})), {
        address: `127.0.3.${good}`,
      });
      const addresses = ['127.0.3.1', '127.0.3.2', '127.0.3.3'];
      const {toolbox} = await openEncodingHost(
        {security: {allowed_ports: [server.port], max_dns_attempts: 2}},
        {resolver: {resolve: async () => addresses}},
      );
      const result = await toolbox.webFetch({url: `http://some.test:${server.port}/`});
      await server.close();
      return sayResult(result);
    });
    expect(said).toEqual(['http_4xx/404', 'http_4xx/404', 'robots_unavailable/connection_refused']);
  });
});

describe('decoding', () => {
  test('ruling C4 meta is looked for in the first 1,024 bytes', async () => {
    const host = await openEncodingHost();
    const meta = '<meta charset=shift_jis>';
    const said = await sayAround(host, offset => {
      const comment = `<!--${x(1024 + offset - meta.length - 7)}-->`;
      return respond(`${comment}${meta}<p>\xe3\x81`, {type: 'text/html'});
    });
    expect(said).toEqual(['ok: 縺', 'ok: 縺', 'ok: \ufffd']);
  });

  test('FR-WF-10h the first 512 bytes decide what a body without a type is', async () => {
    const host = await openEncodingHost();
    const said = await sayAround(host, offset => respond(`${x(511 + offset)}\0`, {type: ''}));
    expect(said.map(text => text.slice(0, 11))).toEqual(['unsupported', 'unsupported', 'ok: xxxxxxx']);
  });

  test('ruling C3 whether a document is converted here or in a thread makes no difference', async () => {
    const host = await openEncodingHost({}, {maxBytes: 1_000_000});
    const bodies = await around(async offset => {
      const size = 32_768 + offset;
      host.put(`/${offset}`, respond(`<p>\xe9${x(size - 4)}`, {type: 'text/html; charset=latin1'}));
      const result = await host.fetch(`/${offset}`);
      if (!result.ok) return result.error.code;
      const text = result.value.chunks.map(chunk => chunk.text).join('');
      return [text.length - offset, text.slice(0, 2)].join();
    });
    expect(bodies).toEqual(Array(3).fill('32765,éx'));
  });
});

describe('tokens', () => {
  test.each([
    [128, ['bad_args', 'ok', 'ok']],
    [2048, ['ok', 'ok', 'bad_args']],
  ])('FR-WF-02a max_chunk_tokens %d', async (cap, expected) => {
    const host = await openEncodingHost();
    host.put('/', respond('page'));
    const said = await around(async offset => {
      const result = await host.fetch('/', {max_chunk_tokens: cap + offset});
      return result.ok ? 'ok' : result.error.code;
    });
    expect(said).toEqual(expected);
  });

  test.each([128, 600, 2048])('FR-WF-15a a document of %d tokens is one chunk', async cap => {
    const host = await openEncodingHost({}, {maxBytes: 1_000_000});
    const text = (tokens: number): string => ` word${' word'.repeat(tokens - 1)}`.slice(1);
    expect(countTokens(text(cap))).toBe(cap);
    const chunks = await around(async offset => {
      host.put(`/${cap}${offset}`, respond(text(cap + offset)));
      const result = await host.fetch(`/${cap}${offset}`, {max_chunk_tokens: cap});
      return result.ok ? result.value.chunks.map(({token_count}) => token_count <= cap) : [];
    });
    expect(chunks).toEqual([[true], [true], [true, true]]);
  });
});

describe('the page cache', () => {
  test('cache_ttl_days', async () => {
    const notes = await around(async offset => {
      const clock = createManualClock();
      const host = await openEncodingHost({cache_dir: temporaryDirectory(), cache_ttl_days: 1}, {clock});
      host.put('/', respond('page'));
      await host.say('/');
      clock.advance(86_400_000 + offset);
      return host.say('/');
    });
    // FR-WF-16d: `expires_at` itself is still good.
    expect(notes).toEqual(['ok: page [cache_hit]', 'ok: page [cache_hit]', 'ok: page']);
  });

  test('max_cache_entries: one page more pushes the first out', async () => {
    const notes = await around(async offset => {
      const host = await openEncodingHost({cache_dir: temporaryDirectory(), max_cache_entries: 2});
      const paths = Array.from({length: 2 + offset}, (_, index) => `/${index}`);
      for (const path of paths) host.put(path, respond('page'));
      for (const path of paths) await host.say(path);
      return host.say('/0');
    });
    expect(notes).toEqual(['ok: page [cache_hit]', 'ok: page [cache_hit]', 'ok: page']);
  });

  test('max_cache_bytes: one byte more pushes the first out', async () => {
    const most = 1_048_576;
    const open = async (max_cache_bytes: number) => {
      const cache_dir = temporaryDirectory();
      const host = await openEncodingHost({cache_dir, max_cache_bytes, robots_cache_entries: 0});
      const stored = async (path: string, bytes: number): Promise<number> => {
        host.put(
          path,
          respond(
            'word '
              .repeat(bytes / 5)
              .padEnd(bytes - 1, 'x')
              .concat('.')
              .slice(-bytes),
          ),
        );
        const before = totalSize(cache_dir);
        await host.fetch(path);
        return totalSize(cache_dir) - before;
      };
      return {...host, stored};
    };
    const notes = await around(async offset => {
      const host = await open(most);
      const left = most - (await host.stored('/first', 200_000)) + offset;
      // The plan beside a page grows with its text, so how much text takes what is left has to be tried.
      const large = await open(8 * most);
      let bytes = left;
      for (const path of ['/tries', '/trial', '/tried']) bytes += left - (await large.stored(path, bytes));
      await host.stored('/other', bytes);
      const again = await host.fetch('/first');
      return again.ok && again.value.notes.includes('cache_hit');
    });
    expect(notes).toEqual([true, true, false]);
  });
});

function totalSize(directory: string): number {
  return readdirSync(directory, {recursive: true, withFileTypes: true})
    .filter(entry => entry.isFile() && entry.name.endsWith('.json'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

describe('what comes out', () => {
  test('ruling E6 tools.output.max_bytes of an empty document', async () => {
    const said = await around(async offset => {
      const host = await openEncodingHost({}, {maxBytes: 1024});
      const size = async (path: string): Promise<number> => {
        host.put(path, respond(''));
        const result = await host.fetch(path);
        return result.ok ? Buffer.byteLength(JSON.stringify(result.value)) : Number.NaN;
      };
      const base = await size('/');
      // The address is in the answer twice.
      const odd = (1024 + offset - base) % 2;
      const path = `/${x((1024 + offset - base - odd) / 2)}`;
      host.put(path, respond(''));
      // A fragment is in the address as asked for only.
      return sayResult(await host.fetch(`${path}${odd === 1 ? '#' : ''}`));
    });
    expect(said.map(text => text.split('/')[0])).toEqual(['ok: ', 'ok: ', 'internal']);
  });

  // The Markdown has a line break at its end.
  test('FR-WF-12c min_extracted_chars', async () => {
    const host = await openEncodingHost({rendering: {min_extracted_chars: 400}});
    const said = await sayAround(host, offset =>
      respond(`<div id="root"></div><p>${x(399 + offset)}</p><script type="module" src="/a.js"></script>`, {
        type: 'text/html',
      }),
    );
    expect(said.map(text => text.includes('browser_unavailable_used_http'))).toEqual([true, false, false]);
  });
});

describe('connections at rest', () => {
  const page = 'HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n';

  test.each([
    ['6 of one origin', 6, (index: number) => ({host: '127.0.4.1', path: `/${index}`})],
    ['32 together', 32, (index: number) => ({host: `127.0.4.${index + 1}`, path: '/'})],
  ])('policy: %s', async (_, cap, place) => {
    const left = await around(async offset => {
      const waiting: (() => void)[] = [];
      const count = cap + offset;
      const server = await startRawServer(
        (socket, {head}) => {
          if (head.startsWith('GET /robots.txt ')) {
            socket.end(page.replace('\r\n', '\r\nConnection: close\r\n'));
            return;
          }
          // All of them are under way at once.
          waiting.push(() => socket.write(page));
          if (waiting.length === count) for (const answer of waiting) answer();
        },
        {address: '0.0.0.0'},
      );
      const {toolbox} = await openEncodingHost({security: {allowed_ports: [server.port]}});
      await Promise.all(
        Array.from({length: count}, (_, index) => {
          const {host, path} = place(index);
          return toolbox.webFetch({url: `http://${host}:${server.port}${path}`});
        }),
      );
      await expect.poll(() => server.open(), {timeout: 3000}).toBeLessThanOrEqual(cap);
      const open = server.open();
      await toolbox.close();
      await server.close();
      return open;
    });
    expect(left).toEqual([cap - 1, cap, cap]);
  });
});
