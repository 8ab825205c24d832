import {describe, expect, test} from 'vitest';
import type {Result} from '../src/core/result.ts';
import type {CallContext, FetchResponse, Toolbox} from '../src/index.ts';
import {normalizeWhitespace} from '../src/web/extract/block-writer.ts';
import type {PathHandler} from './support/http-server.ts';
import {createManualClock} from './support/manual-clock.ts';
import {openTestToolbox} from './support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from './support/serve-pages.ts';

/** One below a bound, the bound, one above. */
const around = (bound: number): readonly number[] => [bound - 1, bound, bound + 1];

const codeOf = (result: Result<unknown>): string => {
  if (result.ok) return 'ok';
  return (result.error as {readonly code: string}).code;
};

const text = (body: string): PathHandler => answer('text/plain', body);

async function eachOf<Item, Value>(
  items: readonly Item[],
  measure: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const measured: Value[] = [];
  for (const item of items) measured.push(await measure(item));
  return measured;
}

describe('the request', () => {
  test('FR-WF-02a max_chunk_tokens is 128 to 2048', async () => {
    const {toolbox} = openTestToolbox([80]);
    const said = await eachOf([127, 128, 129, 2047, 2048, 2049], async max_chunk_tokens =>
      codeOf(await toolbox.webFetch({url: 'ftp://example.com/', max_chunk_tokens})),
    );
    const passed = 'invalid_scheme';
    expect(said).toEqual(['bad_args', passed, passed, passed, passed, 'bad_args']);
  });

  test('FR-WF-ERR-BADARGS-01 ruling A9 an allowed port is 1 to 65535', async () => {
    const said = await eachOf([-1, 0, 1, 65_534, 65_535, 65_536], async port =>
      codeOf(await openTestToolbox([port]).toolbox.webFetch({url: 'http://example.com/'})),
    );
    const passed = 'port_blocked';
    expect(said).toEqual(['bad_args', 'bad_args', passed, passed, passed, 'bad_args']);
  });
});

describe('the guard, with the defaults', () => {
  test('FR-WF-05c FR-WF-PORT-01 the ports are 80 and 443', async () => {
    const {toolbox} = openTestToolbox([], {security: {block_loopback: true}});
    const allowed = await eachOf([1, 79, 80, 81, 442, 443, 444, 65_535], async port => {
      const codes = await eachOf(['http', 'https'], async scheme =>
        codeOf(await toolbox.webFetch({url: `${scheme}://example.test:${port}/`})),
      );
      return [port, ...codes];
    });
    const [passed, refused] = ['ssrf_blocked', 'port_blocked'];
    expect(allowed).toEqual([
      [1, refused, refused],
      [79, refused, refused],
      [80, passed, passed],
      [81, refused, refused],
      [442, refused, refused],
      [443, passed, passed],
      [444, refused, refused],
      [65_535, refused, refused],
    ]);
  });
});

describe('robots.txt, with the defaults', () => {
  test.each([
    [200, 'robots_disallowed'],
    [201, 'robots_disallowed'],
    [299, 'robots_disallowed'],
    [300, 'robots_unavailable'],
    [399, 'robots_unavailable'],
    [400, 'ok'],
    [401, 'ok'],
    [403, 'ok'],
    [404, 'ok'],
    [429, 'ok'],
    [499, 'ok'],
    [500, 'robots_unavailable'],
    [599, 'robots_unavailable'],
  ])('FR-WF-09 FR-WF-09a FR-WF-09c ruling B3 status %i makes a disallowed page %s', async (status, code) => {
    const server = await servePages({
      '/robots.txt': (_, response) => response.writeHead(status).end('User-agent: *\nDisallow: /'),
      '/page': text('page'),
    });
    const {toolbox} = openTestToolbox([server.port]);
    expect(codeOf(await toolbox.webFetch({url: `${server.origin}/page`}))).toBe(code);
  });
});

describe('HTTP, with the defaults', () => {
  test.each([
    [301, 'redirect'],
    [399, 'network'],
    [400, 'http_4xx'],
    [499, 'http_4xx'],
    [500, 'http_5xx'],
    [599, 'http_5xx'],
    [600, 'network'],
    [200, 'ok'],
    [204, 'ok'],
    [205, 'ok'],
    [206, 'network'],
    [207, 'ok'],
    [299, 'ok'],
    [300, 'network'],
  ])('FR-WF-18 ruling C1 status %i is %s', async (status, code) => {
    const server = await servePages({
      '/': (_, response) =>
        response.writeHead(status, {'Content-Type': 'text/plain', Location: '/end'}).end(),
      '/end': text('end'),
    });
    const result = await openTestToolbox([server.port]).toolbox.webFetch({url: server.origin});
    const wasRedirected = result.ok && result.value.final_url.endsWith('/end');
    expect(wasRedirected ? 'redirect' : codeOf(result)).toBe(code);
  });

  test('FR-WF-ERR-HTTP-01 408 and 429 alone may be retried', async () => {
    const statuses = [400, 407, 408, 409, 428, 429, 430, 499];
    const server = await servePages(
      Object.fromEntries(
        statuses.map(status => [`/${status}`, (_, response) => response.writeHead(status).end()]),
      ) as Readonly<Record<string, PathHandler>>,
    );
    const {toolbox} = openTestToolbox([server.port]);
    const retryable = await eachOf(statuses, async status => {
      const result = await toolbox.webFetch({url: `${server.origin}/${status}`});
      return !result.ok && result.error.retryable;
    });
    expect(retryable).toEqual([false, false, true, false, false, true, false, false]);
  });

  test('FR-WF-07 FR-WF-07f 5 redirects are followed', async () => {
    const server = await servePages({
      '*': (request, response) => {
        const left = Number(request.url?.slice(1));
        if (left > 0) response.writeHead(302, {Location: `/${left - 1}`}).end();
        else response.writeHead(200, {'Content-Type': 'text/plain'}).end('end');
      },
      '/robots.txt': (_, response) => response.writeHead(404).end(),
    });
    const {toolbox} = openTestToolbox([server.port]);
    const said = await eachOf(around(5), async hops =>
      codeOf(await toolbox.webFetch({url: `${server.origin}/${hops}`})),
    );
    expect(said).toEqual(['ok', 'ok', 'redirect_limit']);
  });

  test.each([
    ['declared', (size: number) => ({'Content-Length': size})],
    ['chunked', () => ({'Transfer-Encoding': 'chunked'})],
  ])('FR-WF-10e a %s document has at most 5 MiB', async (_, framing) => {
    const said = await eachOf(around(5_242_880), async size => {
      const server = await servePages({
        '/': (_request, response) =>
          response.writeHead(200, {'Content-Type': 'text/plain', ...framing(size)}).end('\n'.repeat(size)),
      });
      return codeOf(await openTestToolbox([server.port]).toolbox.webFetch({url: server.origin}));
    });
    expect(said).toEqual(['ok', 'ok', 'response_too_large']);
  });

  test('FR-WF-ROBOTS-SIZE-01 of robots.txt 512 KiB count', async () => {
    const said = await eachOf(around(524_288), async size => {
      const rules = 'User-agent: *\n#';
      const rule = '\nDisallow: /private';
      const server = await servePages({
        '/robots.txt': text(`${rules}${'x'.repeat(size - rules.length - rule.length)}${rule}`),
        '/private': text('private'),
      });
      return codeOf(await openTestToolbox([server.port]).toolbox.webFetch({url: `${server.origin}/private`}));
    });
    // The line that the limit cuts is dropped (ruling B4).
    expect(said).toEqual(['robots_disallowed', 'robots_disallowed', 'ok']);
  });

  test('FR-WF-10a FR-WF-TIMEOUT-02 a fetch has 20 seconds', async () => {
    const said = await eachOf(around(20_000), async elapsedMs => {
      let reached = (): void => {};
      const waiting = new Promise<void>(resolve => {
        reached = resolve;
      });
      let respond = (): void => {};
      const server = await servePages({
        '/': (_, response) => {
          respond = () => void response.writeHead(200, {'Content-Type': 'text/plain'}).end('late');
          reached();
        },
      });
      const clock = createManualClock();
      const {toolbox} = openTestToolbox([server.port], {}, {clock});
      const result = toolbox.webFetch({url: server.origin});
      await waiting;
      clock.advance(elapsedMs);
      respond();
      return codeOf(await result);
    });
    expect(said).toEqual(['ok', 'timeout', 'timeout']);
  });
});

describe('memory of the process and of the disk, with the defaults', () => {
  test('FR-WF-16d a page is kept for 7 days', async () => {
    const notes = await eachOf(around(7 * 86_400_000), async elapsedMs => {
      const server = await servePages({'/': text('page')});
      const clock = createManualClock();
      const {toolbox} = openTestToolbox([server.port], {}, {clock});
      await toolbox.webFetch({url: server.origin});
      clock.advance(elapsedMs);
      const result = await toolbox.webFetch({url: server.origin});
      return result.ok && result.value.notes;
    });
    // At `expires_at` itself it is still good.
    expect(notes).toEqual([['cache_hit'], ['cache_hit'], []]);
  });

  test('FR-WF-08f robots.txt is remembered for 24 hours', async () => {
    const asked = await eachOf(around(86_400_000), async elapsedMs => {
      const server = await servePages({'/': text('page')});
      const clock = createManualClock();
      const {toolbox} = openTestToolbox([server.port], {}, {clock});
      await toolbox.webFetch({url: server.origin});
      clock.advance(elapsedMs);
      await toolbox.webFetch({url: server.origin, no_cache: true});
      return server.requests.filter(request => request === 'GET /robots.txt').length;
    });
    expect(asked).toEqual([1, 2, 2]);
  });
});

describe('what comes out, with the defaults', () => {
  test('FR-WF-12c fewer than 400 characters are little text', async () => {
    const shell = '<div id="root"></div><script type="module" src="/a.js"></script>';
    const notes = await eachOf(around(400), async size => {
      // The newline at the end of the Markdown counts.
      const server = await servePages({'/': htmlPage(`${shell}<p>${'x'.repeat(size - 1)}`)});
      const result = await openTestToolbox([server.port]).toolbox.webFetch({url: server.origin});
      return result.ok && result.value.notes;
    });
    expect(notes).toEqual([['browser_unavailable_used_http'], [], []]);
  });

  test('FR-WF-OUT-01 FR-WF-03a ruling E7 the JSON has at most 102,400 bytes, or the smaller limit of the call', async () => {
    let body = 'word\n\n'.repeat(2000);
    const server = await servePages({'/': (request, response) => text(body)(request, response)});
    const {toolbox} = openTestToolbox([server.port]);
    const {toolbox: unbounded} = openTestToolbox([server.port], {}, {maxBytes: 10_000_000});
    const bytesOf = (response: FetchResponse): number => Buffer.byteLength(JSON.stringify(response));
    const fetch = async (from: Toolbox, limits: CallContext = {}) => {
      const result = await from.webFetch({url: server.origin, no_cache: true}, limits);
      if (!result.ok) throw new Error(result.error.message);
      return result.value;
    };
    const whole = bytesOf(await fetch(toolbox));
    expect(whole).toBeLessThan(102_400);
    for (const bytes of around(whole)) {
      for (const limits of [
        {maxOutputBytes: bytes},
        {availableCapacityBytes: bytes},
        {maxOutputBytes: bytes, availableCapacityBytes: 102_400},
        {maxOutputBytes: 102_400, availableCapacityBytes: bytes},
      ]) {
        const response = await fetch(toolbox, limits);
        expect([limits, response.truncated]).toEqual([limits, bytes < whole]);
        expect(bytesOf(response)).toBeLessThanOrEqual(bytes);
      }
    }

    body = 'word\n\n'.repeat(12_000);
    for (const size of around(102_400)) {
      // A character more is a byte more, and sometimes a digit of a count.
      for (let missing = size; missing > 0; ) {
        missing = size - bytesOf(await fetch(unbounded));
        body += 'x'.repeat(missing > 20 ? missing / 2 : Math.min(1, missing));
      }
      const response = await fetch(toolbox);
      expect([bytesOf(await fetch(unbounded)), response.truncated]).toEqual([size, size > 102_400]);
      expect(bytesOf(response)).toBeLessThanOrEqual(102_400);
    }
  });
});

describe('Markdown', () => {
  test('FR-WF-13b at most two blank lines stay', () => {
    const after = [0, 1, 2, 3, 4].map(blank => normalizeWhitespace(`a${'\n'.repeat(blank + 1)}b\n`));
    expect(after).toEqual(['a\nb\n', 'a\n\nb\n', 'a\n\n\nb\n', 'a\n\n\nb\n', 'a\n\n\nb\n']);
  });
});
