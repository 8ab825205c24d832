import {onTestFinished} from 'vitest';
import {type PathHandler, startHttpServer, type TestHttpServer} from './http-server.ts';

/** Answers with an HTML document around `body`. */
export function htmlPage(body: string, headers: Readonly<Record<string, string>> = {}): PathHandler {
  return (_, response) =>
    response
      .writeHead(200, {'Content-Type': 'text/html; charset=utf-8', ...headers})
      .end(`<!DOCTYPE html><html lang="en"><head><title>Page</title></head><body>${body}</body></html>`);
}

export function answer(type: string, body: string | Uint8Array): PathHandler {
  return (_, response) => response.writeHead(200, {'Content-Type': type}).end(body);
}

/** A web server for the length of the test. */
export async function servePages(handlers: Readonly<Record<string, PathHandler>>): Promise<TestHttpServer> {
  const server = await startHttpServer(handlers);
  onTestFinished(() => server.close());
  return server;
}
