// Fetches every URL of a list, from every place where a URL can stand, inside a network where every address
// is this machine, and says for each what the tool answered and which addresses were connected to.
// usage, within a fresh network namespace and with dist/ built: node addresses-probe.js [CHROMIUM] < INPUT
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createToolbox} from '../../../dist/index.js';

const [chromium = ''] = process.argv.slice(2);
/** `urls`: templates with {path}; `answers`: what a resolver says. */
const {urls, answers} = JSON.parse(readFileSync(0, 'utf8'));
const HOME = 'http://8.8.4.4';
const PUBLIC = '8.8.4.4';
const PRIVATE = '10.9.9.9';

for (const args of [
  ['link', 'set', 'lo', 'up'],
  ['route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo'],
  ['-6', 'route', 'add', 'local', '::/0', 'dev', 'lo'],
]) {
  const {status, stderr} = spawnSync('ip', args, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}

/** Every address anybody connected to, and which requests came to it. */
const connected = new Set();
const arrived = [];
const at = (kind, index) => urls[index].url.replaceAll('{path}', `m-${kind}-${index}`);
const html = body => `<!DOCTYPE html><title>t</title><body><main>${body}</main>`;
const attribute = text => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
/** The bytes of the text as UTF-8, as servers send them. */
const header = text => Buffer.from(text).toString('latin1');

function answer(request, response) {
  const url = request.url ?? '/';
  const here = request.socket.localAddress ?? '';
  arrived.push([url, here.replace(/^::ffff:/, '')]);
  const send = (status, headers, body = '') => response.writeHead(status, headers).end(body);
  const page = body => send(200, {'Content-Type': 'text/html; charset=utf-8'}, html(body));
  const robots = /^robots-(\d+)\.example$/.exec(request.headers.host ?? '');
  if (url === '/robots.txt') {
    return robots ? send(302, {Location: header(at('robots', robots[1]))}) : send(404, {});
  }
  const [, kind, index] = /^\/(redirect|base|link)\/(\d+)$/.exec(url) ?? /^\/(browser)$/.exec(url) ?? [];
  if (kind === 'redirect') return send(302, {Location: header(at('redirect', index))});
  if (kind === 'link') return page(`<p><a href="${attribute(at('link', index))}">x</a></p>`);
  if (kind === 'base')
    return page(`<base href="${attribute(at('base', index))}"><p><a href="m-base-${index}">x</a></p>`);
  if (kind === 'browser') {
    const list = JSON.stringify(browserUrls).replaceAll('<', '\\u003c');
    return page(`<p>public</p><script>
      const urls = ${list};
      const load = url => fetch(url, {mode: 'no-cors'}).catch(() => {});
      (async () => {
        for (let from = 0; from < urls.length; from += 40) await Promise.all(urls.slice(from, from + 40).map(load));
        document.title = 'all tried';
      })();</script>`);
  }
  send(200, {'Content-Type': 'text/plain'}, 'User-agent: *\nDisallow:\n');
}

/** Filled before the page that asks for them is served. */
const browserUrls = [];
const servers = [80, 22, 8080].map(port => {
  const server = createServer(answer);
  server.on('connection', socket => connected.add((socket.localAddress ?? '').replace(/^::ffff:/, '')));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '::', () => resolve(server));
  });
});
await Promise.all(servers);

const resolver = {
  resolve: async name => {
    const [, index] = /^dns-(\d+)\.example$/.exec(name) ?? [];
    if (index !== undefined) return [answers[index]];
    return [/(?:^|\.)private\.example\.?$/.test(name) ? PRIVATE : PUBLIC];
  },
};
const cacheDir = mkdtempSync(join(tmpdir(), 'forge-addresses-'));
const toolbox = createToolbox({
  resolver,
  config: {
    tools: {
      webfetch: {
        cache_dir: cacheDir,
        robots: {cross_origin_redirects: 'follow'},
        extraction: {honor_base_href: true},
        browser: {chromium_path: chromium === '' ? '/nonexistent' : chromium, network_idle_ms: 30_000},
        timeout_seconds: 60,
      },
    },
  },
});

async function answerTo(url, more = {}) {
  const result = await toolbox.webFetch({url, no_cache: true, ...more});
  if (result.ok) return {code: 'ok', text: result.value.chunks.map(chunk => chunk.text).join('\n')};
  const {code, details} = result.error;
  return {code: code === 'robots_unavailable' ? details.error : code, robots: code === 'robots_unavailable'};
}

async function answerToLink(kind, index) {
  const page = await answerTo(`${HOME}/${kind}/${index}`);
  const target = /\]\((\S+)\)/.exec(page.text ?? '')?.[1];
  return target === undefined ? {code: 'no_link'} : {...(await answerTo(target)), target};
}

const results = urls.map(() => ({}));
const work = [];
for (const [index, {only}] of urls.entries()) {
  work.push(async () => {
    results[index].tool = await answerTo(at('tool', index));
  });
  if (only !== undefined) continue;
  work.push(async () => {
    results[index].redirect = await answerTo(`${HOME}/redirect/${index}`);
  });
  work.push(async () => {
    results[index].robots = await answerTo(`http://robots-${index}.example/page`);
  });
  for (const kind of ['link', 'base']) {
    work.push(async () => {
      results[index][kind] = await answerToLink(kind, index);
    });
  }
}
const resolved = [];
for (const index of answers.keys()) {
  work.push(async () => {
    resolved[index] = (await answerTo(`http://dns-${index}.example/m-dns-${index}`)).code;
  });
}
await Promise.all(
  Array.from({length: 16}, async () => {
    for (let next = work.pop(); next !== undefined; next = work.pop()) await next();
  }),
);

// A page may ask for a thousand things at most.
const step = Math.ceil(urls.length / 900);
for (const [index, {only}] of urls.entries()) {
  if (only === undefined && index % step === 0) browserUrls.push(at('browser', index));
}
const browser =
  chromium === ''
    ? undefined
    : await toolbox.webFetch({url: `${HOME}/browser`, no_cache: true, force_browser: true});
await toolbox.close();
for (const server of await Promise.all(servers)) {
  server.closeAllConnections();
  server.close();
}
rmSync(cacheDir, {recursive: true});
const rendered = browser && {
  tried: browserUrls.length,
  title: browser.ok ? browser.value.title : browser.error.message,
  rendering: browser.ok ? browser.value.rendering_method : '',
};
process.stdout.write(JSON.stringify({results, resolved, connected: [...connected], arrived, rendered}));
