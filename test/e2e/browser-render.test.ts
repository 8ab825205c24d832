import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {startSpaServer} from '../support/spa-server.ts';

const browser = {chromium_path: TEST_CHROMIUM, network_idle_ms: 15_000};

describe('browser mode', () => {
  test(
    'IT-WF-BR-01 a forced render returns what the scripts made of the page',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage('<nav>menu</nav><main><h1>Before</h1></main><script src="/app.js"></script>'),
        '/app.js': answer(
          'text/javascript',
          `document.querySelector('h1').textContent = 'After';
         fetch('/data?x=1').then(r => r.text()).then(t => {
           const p = document.createElement('p');
           p.innerHTML = '<a href="next">' + t + '</a>';
           document.querySelector('main').append(p);
         });`,
        ),
        '/data': answer('text/plain', 'late words'),
      });
      const {toolbox, logs} = openTestToolbox([server.port], {browser, user_agent: 'tester/1.0'});
      const url = `${server.origin}/?q=1#part`;
      expect(await toolbox.webFetch({url, force_browser: true})).toEqual({
        ok: true,
        value: {
          requested_url: url,
          final_url: `${server.origin}/?q=1`,
          fetched_at: expect.stringMatching(/Z$/),
          title: 'Page',
          language: 'en',
          chunks: [
            {
              heading: 'After',
              text: `# After\n\n[late words](${server.origin}/next)`,
              token_count: expect.any(Number),
            },
          ],
          rendering_method: 'browser',
          truncated: false,
          notes: [],
        },
      });
      // Every request came from here, under our name, and none was made twice; nobody wants the icon.
      expect(server.requests).toEqual(['GET /robots.txt', 'GET /?q=1', 'GET /app.js', 'GET /data?x=1']);
      for (const headers of server.requestHeaders) {
        expect(headers['user-agent']).toBe('tester/1.0');
        expect(headers).not.toHaveProperty('cookie');
      }
      expect(logs).toContainEqual(
        expect.objectContaining({event: 'browser_started', layers: expect.arrayContaining(['flags'])}),
      );
    },
  );

  test(
    'FR-WF-11 a React application with a client route and chained fetches',
    needs('Chromium'),
    async () => {
      const server = await startSpaServer('react');
      onTestFinished(() => server.close());
      const {toolbox} = openTestToolbox([server.port], {browser});
      const list = await toolbox.webFetch({url: server.origin, force_browser: true});
      expect(list).toMatchObject({
        value: {chunks: [{text: expect.stringContaining(`- [Heron Loop](${server.origin}/trails/1)`)}]},
      });
      // The route changes by history.replaceState, which fetches nothing: final_url is what was fetched.
      const old = await toolbox.webFetch({url: `${server.origin}/old`, force_browser: true});
      expect(old).toMatchObject({
        value: {
          final_url: `${server.origin}/old`,
          chunks: [
            {
              heading: 'Old Mill Path',
              text: '# Old Mill Path\n\nFollow the leat to the ruined mill.\n\nLooked after by Ada Brook.',
            },
          ],
          notes: [],
        },
      });
      expect(server.requests).toContain('GET /style.css');
      expect(server.requests).not.toContain('GET /paper.png');
    },
  );

  test(
    'FR-WF-11 a Vue application with module scripts, a dynamic import and a worker',
    needs('Chromium'),
    async () => {
      const server = await startSpaServer('vue');
      onTestFinished(() => server.close());
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: `${server.origin}/soup`, force_browser: true})).toMatchObject({
        value: {
          title: 'Kitchen notes',
          chunks: [
            {text: '# Oat soup\n\n| What | How much |\n|---|---|\n| oats | 160 g |\n| leek | 360 g |'},
          ],
          notes: [],
        },
      });
    },
  );

  test('FR-WF-CHARSET-02 the browser reads the same text as HTTP mode', needs('Chromium'), async () => {
    const latin1 = Buffer.from('<!DOCTYPE html><title>T</title><p>caf\xe9</p>', 'latin1');
    const server = await servePages({
      '/known': answer('text/html; charset=windows-1252', latin1),
      '/unknown': answer('text/html; charset=x-nothing', '<!DOCTYPE html><title>T</title><p>café</p>'),
    });
    const {toolbox} = openTestToolbox([server.port], {browser});
    const fetched = (path: string) =>
      toolbox.webFetch({url: server.origin + path, force_browser: true, no_cache: true});
    expect(await fetched('/known')).toMatchObject({value: {chunks: [{text: 'café'}], notes: []}});
    expect(await fetched('/unknown')).toMatchObject({
      value: {chunks: [{text: 'café'}], notes: ['charset_fallback']},
    });
  });

  test('FR-WF-10f plain text is passed through, rendered by nobody', needs('Chromium'), async () => {
    const server = await servePages({'/': answer('text/plain', '<b>not markup</b>')});
    const {toolbox} = openTestToolbox([server.port], {browser});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {rendering_method: 'http', chunks: [{text: '<b>not markup</b>'}]},
    });
  });

  test(
    'ruling G3 status, content type and size of the main document follow the HTTP rules',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/404': (_, response) => response.writeHead(404, {'Content-Type': 'text/html'}).end('<p>gone'),
        '/pdf': answer('application/pdf', '%PDF-'),
        '/large': htmlPage('x'.repeat(4000)),
      });
      const {toolbox} = openTestToolbox([server.port], {browser, max_download_bytes: 2048});
      const code = async (path: string) => {
        const result = await toolbox.webFetch({url: server.origin + path, force_browser: true});
        return result.ok ? 'ok' : result.error.code;
      };
      expect(await code('/404')).toBe('http_4xx');
      expect(await code('/pdf')).toBe('unsupported_content_type');
      expect(await code('/large')).toBe('response_too_large');
    },
  );

  test(
    'IT-WF-BR-05 a page that is never idle gives a partial DOM and says so',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage(`<p id="n">0</p><script>
        let n = 0;
        const again = () => fetch('/poll').then(() => {
          document.getElementById('n').textContent = 'polled ' + (++n > 2 ? 'often' : n);
          again();
        });
        again();</script>`),
        '/poll': answer('text/plain', 'x'),
      });
      const {toolbox} = openTestToolbox([server.port], {browser: {...browser, network_idle_ms: 6000}});
      const partial = {
        rendering_method: 'browser',
        truncated: true,
        truncation_reason: 'browser_timeout_dom_partial',
        chunks: [{text: 'polled often'}],
      };
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {...partial, notes: ['browser_timeout_dom_partial']},
      });
      // Ruling F3: the condition is reported again on a hit.
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {...partial, notes: ['cache_hit', 'browser_timeout_dom_partial']},
      });
    },
  );

  test(
    'FR-WF-11f a request that never ends, and a script that never ends, do not cost the DOM',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/silent': htmlPage('<p>first words</p><script src="/never.js"></script><p>later</p>'),
        '/never.js': () => {},
        '/busy': htmlPage('<p>first words</p><script>setTimeout(() => { for (;;) {} }, 50)</script>'),
      });
      const {toolbox} = openTestToolbox([server.port], {browser: {...browser, network_idle_ms: 6000}});
      for (const path of ['/silent', '/busy']) {
        const result = await toolbox.webFetch({url: server.origin + path, force_browser: true});
        expect(result).toMatchObject({value: {chunks: [{text: 'first words'}], rendering_method: 'browser'}});
      }
    },
  );

  test(
    'FR-WF-11e the quiet time begins after the last answer, not after the first',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage(`<p>start</p><script>
        const step = n => n < 9 && setTimeout(() => fetch('/step').then(() => {
          document.querySelector('p').textContent = 'step ' + n;
          step(n + 1);
        }), 200);
        step(1);</script>`),
        '/step': answer('text/plain', 'x'),
      });
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'step 8'}], notes: []},
      });
    },
  );

  test(
    'IT-WF-BR-06 blocked resource types are not asked for; styles and scripts are',
    needs('Chromium'),
    async () => {
      const handlers = {
        '/': htmlPage(
          `<link rel="stylesheet" href="/s.css"><link rel="icon" href="/icon.png">
         <style>@font-face{font-family:f;src:url(/f.woff2)} p{font-family:f}</style>
         <img src="/a.png"><video src="/v.mp4"></video><p>text</p><script src="/s.js"></script>`,
        ),
        '/s.css': answer('text/css', 'body { background: url(/bg.png) }'),
        '/s.js': answer('text/javascript', 'new Image().src = "/late.png"'),
      };
      const server = await servePages(handlers);
      const {toolbox} = openTestToolbox([server.port], {browser});
      await toolbox.webFetch({url: server.origin, force_browser: true});
      expect([...server.requests].sort()).toEqual(['GET /', 'GET /robots.txt', 'GET /s.css', 'GET /s.js']);
      const other = await servePages(handlers);
      const {toolbox: noScripts} = openTestToolbox([other.port], {
        browser: {...browser, block_resources: ['SCRIPT', 'stylesheet', 'Media', 'Font']},
      });
      await noScripts.webFetch({url: other.origin, force_browser: true});
      expect(other.requests).toContain('GET /a.png');
      expect(other.requests).not.toContain('GET /s.js');
      expect(other.requests).not.toContain('GET /s.css');
    },
  );

  test(
    'IT-WF-BR-08 each call has a fresh profile: nothing stored is there the next time',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage(
          `<p></p><script>
          const seen = [localStorage.x, document.cookie, sessionStorage.x].join('');
          localStorage.x = sessionStorage.x = 'kept';
          document.cookie = 'c=kept; max-age=9999';
          document.querySelector('p').textContent = seen === '' ? 'nothing here' : 'found ' + seen;
          caches.open('c').then(c => c.put('/cached', new Response('x')));
        </script>`,
          {'Cache-Control': 'max-age=9999', 'Set-Cookie': 'server=kept'},
        ),
      });
      const {toolbox} = openTestToolbox([server.port], {browser});
      for (let round = 0; round < 2; round += 1) {
        const result = await toolbox.webFetch({url: server.origin, force_browser: true, no_cache: true});
        expect(result).toMatchObject({value: {chunks: [{text: 'nothing here'}]}});
      }
      expect(server.requests.filter(line => line === 'GET /')).toHaveLength(2);
      expect(server.requestHeaders.filter(headers => 'cookie' in headers)).toEqual([]);
    },
  );

  test('IT-WF-BR-09 requests other than GET and HEAD are blocked and noted', needs('Chromium'), async () => {
    const server = await servePages({
      '/': htmlPage(`<p>text</p><form method="post" action="/form"></form><script>
        fetch('/post', {method: 'POST', body: 'x'}).catch(() => document.body.append(' refused'));
        fetch('/head', {method: 'HEAD'}).then(r => document.body.append(' head ' + r.status));
        navigator.sendBeacon('/beacon', 'x');
        document.forms[0].submit();</script>`),
      '/head': answer('text/plain', 'x'),
    });
    const {toolbox} = openTestToolbox([server.port], {browser});
    const result = await toolbox.webFetch({url: server.origin, force_browser: true});
    expect(result).toMatchObject({value: {notes: ['browser_blocked_non_get'], truncated: false}});
    const text = result.ok ? result.value.chunks.map(chunk => chunk.text).join() : '';
    // A refused form leaves the page where it is.
    expect(text).toContain('text');
    expect(text).toContain('refused');
    expect(text).toContain('head 200');
    expect(server.requests.filter(line => line.startsWith('POST'))).toEqual([]);
  });

  test(
    'IT-WF-BR-10 beyond the subresource budget nothing more is loaded, and the page still comes',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage(`<p>text</p><script>
        (async () => {
          let loaded = 0;
          for (let n = 0; n < 6; n++) await fetch('/part?' + n).then(r => r.text()).then(() => loaded++, () => {});
          document.querySelector('p').textContent = 'loaded ' + loaded;
        })();</script>`),
        '/part': answer('text/plain', 'x'.repeat(400_000)),
      });
      const {toolbox, logs} = openTestToolbox([server.port], {
        browser: {...browser, max_total_subresource_bytes: 1_048_576},
      });
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'loaded 2'}], notes: [], truncated: false},
      });
      expect(server.requests.filter(line => line.startsWith('GET /part'))).toHaveLength(3);
      expect(logs).toContainEqual(
        expect.objectContaining({level: 'warn', event: 'subresource_budget_exceeded'}),
      );
    },
  );

  test(
    'FR-WF-BROWSER-BUDGET-01 a resource above max_download_bytes fails alone',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage(`<p></p><script>
        const say = t => document.querySelector('p').append(t);
        fetch('/large').then(r => r.text()).then(() => say('large came '), () => say('large failed '))
          .then(() => fetch('/small')).then(r => r.text()).then(say);</script>`),
        '/large': answer('text/plain', 'x'.repeat(9000)),
        '/small': answer('text/plain', 'small came'),
      });
      const {toolbox} = openTestToolbox([server.port], {browser, max_download_bytes: 8000});
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'large failed small came'}], notes: []},
      });
    },
  );

  test('FR-WF-DOMSIZE-01 a document that grows too large is cut at once', needs('Chromium'), async () => {
    const server = await servePages({
      '/': htmlPage(`<p>start</p><script>
        setInterval(() => document.body.insertAdjacentHTML('beforeend', '<p>' + 'é'.repeat(1000) + '</p>'), 5);
        const again = () => fetch('/poll').then(again);
        again();</script>`),
      '/poll': answer('text/plain', 'x'),
    });
    const {toolbox} = openTestToolbox([server.port], {
      browser: {...browser, network_idle_ms: 60_000, max_rendered_dom_bytes: 30_000},
    });
    const begun = performance.now();
    const result = await toolbox.webFetch({url: server.origin, force_browser: true});
    expect(result).toMatchObject({
      value: {
        truncated: true,
        truncation_reason: 'browser_dom_truncated',
        notes: ['browser_dom_truncated'],
      },
    });
    expect(performance.now() - begun).toBeLessThan(40_000);
    const text = result.ok ? result.value.chunks.map(chunk => chunk.text).join('') : '';
    expect(Buffer.byteLength(text)).toBeGreaterThan(20_000);
    expect(Buffer.byteLength(text)).toBeLessThan(30_000);
    expect(text).not.toContain('\ufffd');
  });

  test(
    'policy: dialogs, popups and names that hide the document do not hold the page up',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/': htmlPage(`<form name="documentElement"></form><p>text</p><script>
        alert('x'); confirm('y'); prompt('z'); window.open('/popup'); print();
        Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'forged'});
        document.querySelector('p').textContent = 'went on';</script>`),
      });
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'went on'}], notes: []},
      });
      expect(server.requests).not.toContain('GET /popup');
    },
  );
});

describe('the first document and where it leads', () => {
  test(
    'FR-WF-07 server redirects are followed outside; the browser lands on the final URL',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/a': (_, response) => response.writeHead(302, {Location: '/dir/b'}).end(),
        '/dir/b': htmlPage(
          '<p></p><script>document.querySelector("p").textContent = location.pathname</script>',
        ),
      });
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: `${server.origin}/a`, force_browser: true})).toMatchObject({
        value: {final_url: `${server.origin}/dir/b`, chunks: [{text: '/dir/b'}]},
      });
      expect(server.requests).toEqual(['GET /robots.txt', 'GET /a', 'GET /dir/b']);
    },
  );

  test(
    'FR-WF-11c a step by script counts as a redirect, and is checked, by robots.txt too',
    needs('Chromium'),
    async () => {
      const go = (to: string) =>
        htmlPage(`<p>stop</p><script>location.href = ${JSON.stringify(to)}</script>`);
      const server = await servePages({
        '/robots.txt': answer('text/plain', 'User-agent: *\nDisallow: /private'),
        '/start': go('/middle'),
        '/middle': (_, response) => response.writeHead(302, {Location: '/end'}).end(),
        '/end': htmlPage('<p>arrived</p>'),
        '/loop': go('/loop'),
        '/to-private': go('/private'),
        '/to-inside': go('http://10.1.2.3/'),
        '/to-missing': go('/missing'),
        '/meta': htmlPage('<meta http-equiv="refresh" content="0;url=/end"><p>stop</p>'),
      });
      const {toolbox} = openTestToolbox([server.port, 80], {browser, max_redirects: 3});
      const fetched = (path: string) => toolbox.webFetch({url: server.origin + path, force_browser: true});
      const end = {value: {final_url: `${server.origin}/end`, chunks: [{text: 'arrived'}]}};
      expect(await fetched('/start')).toMatchObject(end);
      expect(await fetched('/meta')).toMatchObject(end);
      expect(await fetched('/loop')).toMatchObject({
        error: {code: 'redirect_limit', details: {count: 4, max: 3}},
      });
      expect(await fetched('/to-private')).toMatchObject({error: {code: 'robots_disallowed'}});
      expect(await fetched('/to-inside')).toMatchObject({
        error: {code: 'ssrf_blocked', details: {blocked_ip: '10.1.2.3'}},
      });
      expect(await fetched('/to-missing')).toMatchObject({error: {code: 'http_4xx'}});
    },
  );

  test(
    'FR-WF-BREDIR-01 redirects of subresources do not count, and robots.txt does not speak of them',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/robots.txt': answer('text/plain', 'User-agent: *\nDisallow: /r'),
        '/': htmlPage(
          '<p></p><script>fetch("/r?9").then(r => r.text()).then(t => document.querySelector("p").append(t))</script>',
        ),
        '/r': (request, response) => {
          const left = Number(request.url?.split('?')[1]);
          if (left > 0) response.writeHead(302, {Location: `/r?${left - 1}`}).end();
          else response.writeHead(200, {'Content-Type': 'text/plain'}).end('reached');
        },
      });
      const {toolbox} = openTestToolbox([server.port], {browser, max_redirects: 1});
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'reached'}]},
      });
    },
  );

  test(
    'FR-WF-ROBOTS-SCOPE-01 the main document itself is asked of robots.txt',
    needs('Chromium'),
    async () => {
      const server = await servePages({'/robots.txt': answer('text/plain', 'User-agent: *\nDisallow: /')});
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        error: {code: 'robots_disallowed'},
      });
    },
  );
});

describe('rendering selection', () => {
  const shell = htmlPage('<div id="root"></div><script type="module" src="/app.js"></script>');
  const app = answer('text/javascript', 'document.getElementById("root").innerHTML = "<p>application</p>"');

  test(
    'IT-WF-BR-07 an application shell is rendered after HTTP, without being fetched twice',
    needs('Chromium'),
    async () => {
      const server = await servePages({'/': shell, '/app.js': app});
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
        value: {rendering_method: 'browser', chunks: [{text: 'application'}], notes: []},
      });
      expect(server.requests).toEqual(['GET /robots.txt', 'GET /', 'GET /app.js']);
    },
  );

  test(
    'IT-WF-BR-07 the same for a shell so large that a thread looked at it',
    needs('Chromium'),
    async () => {
      const large = htmlPage(
        `<div id="root"></div><script>/* ${'x'.repeat(100_000)} */</script><script type="module" src="/app.js"></script>`,
      );
      const server = await servePages({'/': large, '/app.js': app});
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
        value: {rendering_method: 'browser', chunks: [{text: 'application'}], notes: []},
      });
      expect(server.requests).toEqual(['GET /robots.txt', 'GET /', 'GET /app.js']);
    },
  );

  test(
    'T-WF-CCH-10 a fallback caches the browser result only, and it serves later HTTP-first calls',
    needs('Chromium'),
    async () => {
      const server = await servePages({'/': shell, '/app.js': app});
      const {toolbox, cacheDir} = openTestToolbox([server.port], {browser});
      await toolbox.webFetch({url: server.origin});
      const entries = readCache(cacheDir);
      expect(entries).toMatchObject([
        {rendering_method: 'browser', origin: 'fallback', extracted: {markdown: 'application\n'}},
      ]);
      expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
        value: {rendering_method: 'browser', notes: ['cache_hit']},
      });
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {notes: ['cache_hit']},
      });
    },
  );

  test(
    'ruling F1 a forced render does not serve calls that did not force it',
    needs('Chromium'),
    async () => {
      const server = await servePages({'/': htmlPage('<p>plain</p>')});
      const {toolbox, cacheDir} = openTestToolbox([server.port], {browser});
      await toolbox.webFetch({url: server.origin, force_browser: true});
      expect(readCache(cacheDir)).toMatchObject([{rendering_method: 'browser', origin: 'forced'}]);
      expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
        value: {rendering_method: 'http', notes: []},
      });
    },
  );

  test('FR-WF-12b a js_heavy host skips HTTP mode', needs('Chromium'), async () => {
    const server = await servePages({
      '/': htmlPage('<p>HTTP</p><script>document.querySelector("p").textContent = "browser"</script>'),
    });
    const {toolbox, cacheDir} = openTestToolbox([server.port], {
      browser,
      rendering: {js_heavy_domains: ['.heavy.test']},
    });
    expect(await toolbox.webFetch({url: `http://a.heavy.test:${server.port}/`})).toMatchObject({
      value: {rendering_method: 'browser', chunks: [{text: 'browser'}]},
    });
    expect(readCache(cacheDir)).toMatchObject([{origin: 'js_heavy'}]);
    expect(server.requests).toEqual(['GET /robots.txt', 'GET /']);
  });

  test(
    'FR-WF-12c text enough, no marks or another status than 200: no fallback',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/long': htmlPage(`<div id="root"><p>${'word '.repeat(100)}</p></div>`),
        '/plain': htmlPage('<p>short</p>'),
        '/203': (_, response) =>
          response.writeHead(203, {'Content-Type': 'text/html'}).end('<div id="root">short</div>'),
      });
      const {toolbox, logs} = openTestToolbox([server.port], {browser});
      for (const path of ['/long', '/plain', '/203']) {
        expect(await toolbox.webFetch({url: server.origin + path})).toMatchObject({
          value: {rendering_method: 'http', notes: []},
        });
      }
      expect(logs.filter(({event}) => event === 'browser_started')).toEqual([]);
    },
  );
});

/** The entries of a page cache, two directories deep. */
function readCache(directory: string): readonly unknown[] {
  return readdirSync(directory, {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.json'))
    .map(name => JSON.parse(readFileSync(join(directory, name), 'utf8')) as unknown);
}
