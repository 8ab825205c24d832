import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';
import {countTokens, type FetchResponse} from '../../src/index.ts';
import {startHttpServer} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';

/** Real pages lie beside the checkout on some machines; the project's own fixtures are always there. */
const REAL = fileURLToPath(new URL('../../../shared/data/pages', import.meta.url));
const OWN = fileURLToPath(new URL('../fixtures/pages', import.meta.url));
const directories = [REAL, OWN].filter(directory => existsSync(directory));

test('IT-WF-HTTP-01 every page at hand becomes a schema-valid response', async () => {
  const pages = directories.flatMap(directory =>
    readdirSync(directory, {recursive: true, encoding: 'utf8'})
      .filter(name => name.endsWith('.html'))
      .map(name => join(directory, name)),
  );
  expect(pages.length).toBeGreaterThan(8);
  const server = await startHttpServer({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': (request, response) => {
      const page = pages[Number((request.url ?? '').slice(1))];
      if (page === undefined) response.writeHead(404).end();
      else response.writeHead(200, {'Content-Type': 'text/html'}).end(readFileSync(page));
    },
  });
  onTestFinished(() => server.close());
  const {toolbox} = openTestToolbox([server.port], {}, {maxBytes: 10_000_000});
  for (const [index, page] of pages.entries()) {
    const result = await toolbox.webFetch({url: `${server.origin}/${index}`});
    if (!result.ok) throw new Error(`${page}: ${result.error.message}`);
    validate(JSON.parse(JSON.stringify(result.value)), page);
  }
}, 120_000);

/** FR-WF-03, field by field. */
function validate(response: FetchResponse, page: string): void {
  expect(Object.keys(response), page).toEqual([
    'requested_url',
    'final_url',
    'fetched_at',
    ...(response.title === undefined ? [] : ['title']),
    ...(response.language === undefined ? [] : ['language']),
    'chunks',
    'rendering_method',
    'truncated',
    'notes',
  ]);
  expect(response.rendering_method).toBe('http');
  for (const chunk of response.chunks) {
    expect(Object.keys(chunk), page).toEqual(['heading', 'text', 'token_count']);
    expect(chunk.token_count, page).toBe(countTokens(chunk.text));
    expect(chunk.text.trim(), page).not.toBe('');
    // Ruling E4: only a slice of a code fence may be larger.
    if (chunk.token_count > 600) expect(chunk.text.split('\n').length, page).toBe(1);
  }
}
