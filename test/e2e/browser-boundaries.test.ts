import {describe, expect} from 'vitest';
import {browserTest, TEST_CHROMIUM} from '../support/browser-test.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';

const browser = {chromium_path: TEST_CHROMIUM, network_idle_ms: 8000};

describe('FR-WF-11d FR-WF-DOMSIZE-01 max_rendered_dom_bytes counts the UTF-8 bytes of the outer HTML', () => {
  const LIMIT = 2048;
  const around = (filler: string, size: number): string => {
    const [start, end] = ['<html><head></head><body><p>', '</p></body></html>'];
    const room = size - start.length - end.length;
    const fillers = filler.repeat(Math.floor(room / Buffer.byteLength(filler)));
    return `${start}${fillers}${'.'.repeat(room - Buffer.byteLength(fillers))}${end}`;
  };

  browserTest.each(['x', '日'])('FR-WF-11d FR-WF-DOMSIZE-01 of %s', async filler => {
    const sizes = [LIMIT - 1, LIMIT, LIMIT + 1];
    const server = await servePages(
      Object.fromEntries(
        sizes.map(size => [
          `/${size}`,
          answer('text/html; charset=utf-8', `<!DOCTYPE html>${around(filler, size)}`),
        ]),
      ),
    );
    const {toolbox} = openTestToolbox([server.port], {
      browser: {...browser, max_rendered_dom_bytes: LIMIT},
    });
    const said: unknown[] = [];
    for (const size of sizes) {
      const result = await toolbox.webFetch({url: `${server.origin}/${size}`, force_browser: true});
      said.push(result.ok ? [result.value.truncated, result.value.truncation_reason] : result.error.code);
    }
    expect(said).toEqual([
      [false, undefined],
      [false, undefined],
      [true, 'browser_dom_truncated'],
    ]);
  });
});

browserTest('FR-WF-19c fetch_complete names the rendering that made the chunks', async () => {
  const server = await servePages({
    '/': htmlPage('<div id="root"></div><script type="module" src="/app.js"></script>'),
    '/app.js': answer('text/javascript', 'document.querySelector("#root").textContent = "rendered";'),
  });
  const {toolbox, logs} = openTestToolbox([server.port], {browser});
  expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
    value: {rendering_method: 'browser', chunks: [{text: 'rendered'}]},
  });
  expect(logs).toContainEqual(expect.objectContaining({event: 'fetch_start', rendering_method: 'http'}));
  expect(logs).toContainEqual(
    expect.objectContaining({event: 'fetch_complete', rendering_method: 'browser', cache_hit: false}),
  );
});

/** A page whose script asks for `/SIZE` one after the other, and says which came. */
const asking = (sizes: readonly number[]) =>
  htmlPage(`<p>nothing</p><script>
    (async () => {
      const came = [];
      for (const size of ${JSON.stringify(sizes)}) {
        await fetch('/' + size).then(r => r.text()).then(text => came.push(text.length), () => came.push('-'));
      }
      document.querySelector('p').textContent = came.join(' ');
    })();</script>`);

const sized = (sizes: readonly number[]) =>
  Object.fromEntries(sizes.map(size => [`/${size}`, answer('text/plain', 'x'.repeat(size))]));

describe('FR-WF-BROWSER-BUDGET-01 one below, at, and one above', () => {
  browserTest('FR-WF-BROWSER-BUDGET-01 of one resource', async () => {
    const sizes = [2047, 2048, 2049, 1];
    const server = await servePages({'/': asking(sizes), ...sized(sizes)});
    const {toolbox} = openTestToolbox([server.port], {browser, max_download_bytes: 2048});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {chunks: [{text: '2047 2048 - 1'}]},
    });
  });

  browserTest.each([
    [48_575, '1000000 48575 1'],
    [48_576, '1000000 48576 -'],
    [48_577, '1000000 - -'],
  ])('FR-WF-BROWSER-BUDGET-01 of all resources: %i bytes after a million', async (size, came) => {
    const sizes = [1_000_000, size, 1];
    const server = await servePages({'/': asking(sizes), ...sized(sizes)});
    const {toolbox} = openTestToolbox([server.port], {
      browser: {...browser, max_total_subresource_bytes: 1_048_576},
    });
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {chunks: [{text: came}]},
    });
  });
});
