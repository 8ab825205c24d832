import {readFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {packageFile} from '../../core/package-file.ts';

export interface DemoSite {
  readonly origin: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

const FILES = ['/release-notes.html', '/guide.html', '/notes.txt', '/robots.txt'];

/** A few pages of the project's own on a free loopback port. */
export async function openDemoSite(): Promise<DemoSite> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/metadata') {
      // The classic: a public page that sends a fetcher into the private network.
      response.writeHead(302, {Location: `http://10.0.0.5:${port}/latest/credentials`}).end();
    } else if (path === '/moved') {
      response.writeHead(301, {Location: '/release-notes.html'}).end();
    } else if (FILES.includes(path)) {
      const type = TYPES[path.slice(path.lastIndexOf('.'))] ?? 'text/plain';
      readFile(packageFile(`demo/site${path}`)).then(
        body => response.writeHead(200, {'Content-Type': type}).end(body),
        () => response.writeHead(500).end(),
      );
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
