import {request} from 'node:http';
import {expect, onTestFinished, test} from 'vitest';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {systemClock} from '../../core/clock.ts';
import {serveRun} from './serve-run.ts';

async function servedRun() {
  const runtime = await openTestRuntime();
  await runtime.call('echo', {text: 'the first'});
  const served = await serveRun(runtime.directory, systemClock);
  if (!served.ok) throw new Error(served.error.message);
  onTestFinished(served.value.close);
  return {...runtime, ...served.value};
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

function get(url: string, options: {readonly host?: string; readonly method?: string} = {}): Promise<Reply> {
  const {host, method = 'GET'} = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, {method, headers: host === undefined ? {} : {host}}, response => {
      let body = '';
      response.setEncoding('utf8').on('data', text => {
        body += text;
      });
      response.on('end', () => resolve({status: response.statusCode ?? 0, headers: response.headers, body}));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Reads the stream until `enough` says so, and gives its events. */
function events(url: string, enough: (text: string) => boolean, lastId = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}events`, {headers: {'last-event-id': lastId}}, response => {
      let text = '';
      response.setEncoding('utf8').on('data', part => {
        text += part;
        if (!enough(text)) return;
        resolve(text);
        sent.destroy();
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('report: the page is served with its policy, and shows nothing before its stream does', async () => {
  const {url} = await servedRun();
  const {status, headers, body} = await get(url);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; .*connect-src 'self'.*frame-ancestors 'none'$/,
    ),
    'x-content-type-options': 'nosniff',
  });
  expect(body).toContain('"live":true');
  expect(body).not.toContain('the first');
});

test('report: the stream has what was, then what comes, and goes on behind the last id', {
  tags: 'slow',
}, async () => {
  const {url, call} = await servedRun();
  const seen = events(url, text => text.includes('second'));
  await get(url);
  await call('echo', {text: 'second'});
  const text = await seen;
  expect(text.indexOf('the first')).toBeLessThan(text.indexOf('second'));
  const id = /id: (\d+)\ndata: [^\n]*second/.exec(text)?.[1] ?? '';
  expect(Number(id)).toBeGreaterThan(1);
  const rest = events(url, more => more.includes('third'), id);
  await call('echo', {text: 'third'});
  expect(await rest).not.toContain('the first');
});

test('policy: who has not the address, or comes by another name, learns nothing', async () => {
  const {url} = await servedRun();
  const {origin, pathname, port} = new URL(url);
  expect(pathname).toMatch(/^\/[0-9a-f]{48}\/$/);
  for (const path of [
    '/',
    '/events',
    `${pathname.slice(0, -2)}${pathname.at(-2) === '0' ? '1' : '0'}/`,
    `${pathname}other`,
    '/favicon.ico',
  ]) {
    expect(await get(`${origin}${path}`), path).toMatchObject({status: 404, body: 'Not found.\n'});
  }
  for (const host of ['evil.example', `localhost:${port}`, `evil.example:${port}`]) {
    expect(await get(url, {host})).toMatchObject({status: 404});
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    expect(await get(url, {method})).toMatchObject({status: 405});
  }
});
