// A server of MCP over HTTP with everything on, from `dist`: node --expose-gc soak-host.js OPTIONS-JSON. It prints its
// address. Each SIGUSR2 is answered by a line with the bytes of the heap that are in use; SIGTERM ends it.
import {createToolbox} from '../../../dist/index.js';
import {createMcpService, serveHttp} from '../../../dist/mcp.js';

const {token, ...options} = JSON.parse(process.argv[2] ?? '');
const toolbox = createToolbox({...options, resolver: {resolve: async () => ['127.0.0.1']}});
const served = await serveHttp(createMcpService(toolbox, {version: '0.0.0'}), {token});
if (!served.ok) throw new Error(served.error.message);
process.stdout.write(`${served.value.url}\n`);
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  process.stdout.write(`${process.memoryUsage().heapUsed}\n`);
});
process.once('SIGTERM', async () => {
  await served.value.close();
  await toolbox.close();
});
