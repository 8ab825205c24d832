import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {countTokens, createToolbox, type Toolbox} from '../../src/index.ts';
import {freePort} from '../support/free-port.ts';
import {startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {unwrap} from '../support/outcome.ts';
import {has, needs, program} from '../support/parts.ts';

/** A made web of 300 pages, and the search that its site offers to SearXNG. */
interface Fact {
  readonly path: string;
  readonly title: string;
  readonly question: string;
  /** The sentence that answers it. */
  readonly sentence: string;
}

const NAMES = [
  'Arvel',
  'Brisk',
  'Colvan',
  'Dorne',
  'Eskal',
  'Fenwick',
  'Garrow',
  'Hollin',
  'Ivers',
  'Jessamy',
];
const THINGS = ['pump', 'kiln', 'loom', 'lathe', 'press', 'crane', 'boiler', 'winch', 'sieve', 'lantern'];
const PARTS = ['valve', 'frame', 'belt'];

/** Three pages for each of a hundred machines; each has one fact that no other page has. */
const FACTS: readonly Fact[] = NAMES.flatMap((name, n) =>
  THINGS.flatMap((thing, t) =>
    PARTS.map((part, p) => {
      const number = 1000 + 97 * n + 31 * t + 7 * p;
      return {
        path: `/${name}/${thing}/${part}`.toLowerCase(),
        title: `The ${part} of the ${name} ${thing}`,
        question: `How many hours does the ${part} of the ${name} ${thing} last before service?`,
        sentence: `The ${part} of the ${name} ${thing} lasts ${number} hours before it needs service.`,
      };
    }),
  ),
);

function pageOf({title, sentence}: Fact): string {
  const filler = (about: string) =>
    `<p>${`Notes on ${about} that say nothing about its service. `.repeat(30)}</p>`;
  return `<!DOCTYPE html><title>${title}</title><h1>${title}</h1><h2>History</h2>${filler('history')}
    <h2>Maintenance</h2>${filler('oil')}<p>${sentence}</p><h2>Transport</h2>${filler('transport')}`;
}

/** The pages with the most words of the query, as JSON. */
function answerSearch(query: string, page: number, origin: string): string {
  const words = query.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  const scored = FACTS.map(fact => ({
    fact,
    score: words.filter(word => fact.title.toLowerCase().includes(word)).length,
  }));
  const best = scored.filter(({score}) => score > 0).sort((a, b) => b.score - a.score);
  const results = best.slice((page - 1) * 10, page * 10).map(({fact}) => ({
    url: `${origin}${fact.path}`,
    title: fact.title,
    text: `Notes on ${fact.title}.`,
  }));
  return JSON.stringify({results});
}

/** All settings that Debian's package reads. */
function settings(port: number, site: string): string {
  const engine = (name: string, url: string, categories: string) => ({
    name,
    engine: 'json_engine',
    shortcut: name,
    categories,
    paging: true,
    enable_http: true,
    search_url: `${url}?q={query}&p={pageno}`,
    results_query: 'results',
    url_query: 'url',
    title_query: 'title',
    content_query: 'text',
  });
  return JSON.stringify({
    general: {debug: false, instance_name: 'made', contact_url: false, enable_stats: false},
    brand: Object.fromEntries(
      ['git_url', 'git_branch', 'issue_url', 'docs_url', 'public_instances', 'wiki_url', 'twitter_url'].map(
        name => [name, ''],
      ),
    ),
    search: {
      safe_search: 0,
      autocomplete: '',
      default_lang: '',
      ban_time_on_fail: 1,
      max_ban_time_on_fail: 1,
      formats: ['html', 'json'],
    },
    server: {
      port,
      bind_address: '127.0.0.1',
      secret_key: 'made-up',
      base_url: false,
      image_proxy: false,
      http_protocol_version: '1.1',
      method: 'GET',
      default_http_headers: {},
    },
    ui: {
      static_path: '/usr/share/python3-searx/static',
      templates_path: '/usr/share/python3-searx/templates',
      default_theme: 'oscar',
      default_locale: '',
      theme_args: {oscar_style: 'logicodev'},
    },
    outgoing: {request_timeout: 20, useragent_suffix: '', pool_connections: 10, pool_maxsize: 10},
    checker: {off_when_debug: true},
    locales: {en: 'English'},
    doi_resolvers: {none: 'http://127.0.0.1/'},
    default_doi_resolver: 'none',
    engines: [engine('made', `${site}/api`, 'general'), engine('broken', `${site}/broken`, 'news')],
  });
}

describe('SearXNG', needs('SearXNG'), () => {
  let site: TestHttpServer;
  let toolbox: Toolbox;
  let news: Toolbox;
  let stop: () => Promise<void> = async () => {};

  beforeAll(async () => {
    if (!has('SearXNG')) return;
    const pages = Object.fromEntries(
      FACTS.map(fact => [
        fact.path,
        (_: unknown, response: import('node:http').ServerResponse) =>
          void response.writeHead(200, {'Content-Type': 'text/html; charset=utf-8'}).end(pageOf(fact)),
      ]),
    );
    site = await startHttpServer({
      ...pages,
      '/api': (request, response) => {
        const {searchParams} = new URL(request.url ?? '', 'http://site');
        const body = answerSearch(searchParams.get('q') ?? '', Number(searchParams.get('p')), site.origin);
        response.writeHead(200, {'Content-Type': 'application/json'}).end(body);
      },
      '/broken': (_, response) => void response.writeHead(500).end(),
    });
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'searx-'));
    writeFileSync(join(directory, 'settings.yml'), settings(port, site.origin));
    const engine = spawn(program('searx-run'), {
      env: {...process.env, SEARX_SETTINGS_PATH: join(directory, 'settings.yml')},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    stop = async () => {
      const ended = once(engine, 'exit');
      if (engine.kill('SIGKILL')) await ended;
      await site.close();
      rmSync(directory, {recursive: true, force: true});
    };
    let printed = '';
    await new Promise<void>((resolve, reject) => {
      engine.once('error', reject);
      engine.once('exit', code => reject(new Error(`searx-run ended with ${code}: ${printed}`)));
      engine.stderr.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (/Running on/.test(printed)) resolve();
      });
    });
    const open = (categories: readonly string[]) =>
      createToolbox({
        config: {
          tools: {
            mode: 'enabled',
            approval: {mode: 'auto'},
            webfetch: {
              enabled: true,
              cache_dir: '',
              allow_private: [{host: '127.0.0.1', cidr: '127.0.0.0/8', ports: [port, site.port]}],
            },
            websearch: {
              timeout_seconds: 60,
              engines: [{kind: 'searxng', endpoint: `http://127.0.0.1:${port}/search`, categories}],
            },
          },
        },
      });
    toolbox = open(['general']);
    news = open(['news']);
  });

  afterAll(async () => {
    await toolbox?.close();
    await news?.close();
    await stop();
  });

  test('a query becomes results, and a page more of them', async () => {
    const first = unwrap(await toolbox.webSearch({query: 'Arvel pump', max_results: 4}));
    expect(first.next_page).toBe(2);
    const more = unwrap(await toolbox.webSearch({query: 'Arvel pump', max_results: 4, page: 2}));
    const all = [...first.results, ...more.results].map(({url}) => url);
    expect(new Set(all).size).toBe(8);
  });

  test('a category whose engine is down is a failure that says so', async () => {
    const {error} = await news.call({tool: 'web_search', params: {query: 'Arvel pump'}});
    expect(error).toMatchObject({code: 'network', message: expect.stringContaining('broken')});
  });

  test('twenty questions: the right passage in one call, within 3,000 tokens', async () => {
    let right = 0;
    for (let at = 0; at < 20; at += 1) {
      const {question, sentence} = FACTS[(at * 37) % FACTS.length] as Fact;
      const result = await toolbox.call({tool: 'web_search', params: {query: question, read: 3}});
      const text = toolbox.renderText(result);
      expect(countTokens(text)).toBeLessThanOrEqual(3000);
      if (text.includes(sentence)) right += 1;
    }
    expect(right).toBeGreaterThanOrEqual(19);
  });
});
