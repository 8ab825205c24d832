// Serves bodies of the size that the path names, over kept-alive connections. Its port goes to the parent.
import {createServer} from 'node:http';

const bodies = new Map();
const server = createServer((request, response) => {
  const size = Number(request.url.slice(1));
  const body = bodies.get(size) ?? Buffer.alloc(size, 'x');
  bodies.set(size, body);
  response.writeHead(200, {'Content-Type': 'text/plain', 'Content-Length': size}).end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.once('disconnect', () => process.exit(0));
