// Serves the pages of the bench over and over: /AT is page AT of them. Its port goes to the parent.
import {createServer} from 'node:http';
import {loadPages} from './pages.js';

const bodies = loadPages().map(({html}) => Buffer.from(html));
const server = createServer((request, response) => {
  const at = Number(/^\/(\d+)$/.exec(request.url)?.[1]);
  if (!Number.isInteger(at)) return response.writeHead(404).end();
  const body = bodies[at % bodies.length];
  response
    .writeHead(200, {'Content-Type': 'text/html; charset=utf-8', 'Content-Length': body.length})
    .end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send({port: server.address().port}));
process.once('disconnect', () => process.exit(0));
