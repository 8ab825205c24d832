import {createServer, request} from 'node:http';

/**
 * The suite cannot send a bearer token, and the product serves nobody without one: this stands between
 * them and adds it. All else, the Host and Origin headers included, passes unchanged.
 */
export async function withToken(url, token) {
  const {hostname, port} = new URL(url);
  const proxy = createServer((incoming, outgoing) => {
    const {method, url: path, headers} = incoming;
    const forwarded = request({
      hostname,
      port,
      method,
      path,
      headers: {...headers, authorization: `Bearer ${token}`},
    });
    forwarded.on('response', response => {
      outgoing.writeHead(response.statusCode, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise(resolve => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${proxy.address().port}${new URL(url).pathname}`,
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
