// Serves the bug tracker of the demo on a free loopback port.
import {readFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {packageFile} from '../core/package-file.ts';

export interface DemoSite {
  readonly origin: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

const FILES: Readonly<Record<string, string>> = {
  '/issue-17.html': 'text/html; charset=utf-8',
  '/discussion.html': 'text/html; charset=utf-8',
  '/discussion.js': 'text/javascript; charset=utf-8',
  '/robots.txt': 'text/plain; charset=utf-8',
};

export async function openDemoSite(): Promise<DemoSite> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const type = FILES[path];
    if (path === '/attachment') {
      // The classic: a public page that sends a fetcher into the private network.
      response.writeHead(302, {Location: `http://10.0.0.5:${port}/latest/credentials`}).end();
    } else if (type === undefined) {
      response.writeHead(404).end();
    } else {
      readFile(packageFile(`demo/site${path}`)).then(
        body => response.writeHead(200, {'Content-Type': type}).end(body),
        () => response.writeHead(500).end(),
      );
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
