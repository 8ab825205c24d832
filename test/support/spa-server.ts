import {readFileSync} from 'node:fs';
import type {ServerResponse} from 'node:http';
import {extname, join} from 'node:path';
import {type PathHandler, startHttpServer, type TestHttpServer} from './http-server.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css',
};

/** The data that the applications in test/fixtures/spa fetch, each answer a little late. */
const DATA: Readonly<Record<string, unknown>> = {
  '/api/trails': [
    {id: 1, name: 'Heron Loop'},
    {id: 2, name: 'Old Mill Path'},
  ],
  '/api/trails/2': {name: 'Old Mill Path', text: 'Follow the leat to the ruined mill.', warden: 7},
  '/api/wardens/7': {name: 'Ada Brook'},
  '/api/wardens/0': {},
  '/api/recipe': {
    title: 'Oat soup',
    parts: [
      {what: 'oats', grams: 40},
      {what: 'leek', grams: 90},
    ],
  },
};
const DELAY_MS = 120;

/** Serves one application; every path that is no file is its `index.html`, as client routing needs it. */
export function startSpaServer(application: 'react' | 'vue'): Promise<TestHttpServer> {
  const directory = join(import.meta.dirname, '../fixtures/spa', application);
  const answer: PathHandler = (request, response) => {
    const path = new URL(request.url ?? '/', 'http://spa.test').pathname;
    const data = DATA[path];
    if (path === '/robots.txt') response.writeHead(404).end();
    else if (data !== undefined) sendLate(response, JSON.stringify(data));
    else {
      const file = extname(path) === '' ? 'index.html' : path.slice(1);
      response
        .writeHead(200, {'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream'})
        .end(readFileSync(join(directory, file)));
    }
  };
  return startHttpServer({'*': answer});
}

function sendLate(response: ServerResponse, json: string): void {
  setTimeout(() => response.writeHead(200, {'Content-Type': 'application/json'}).end(json), DELAY_MS);
}
