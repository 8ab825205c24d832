// A process that serves one tool with the built transports: `stdio`, or `http TOKEN_FILE`.
import {createMcpService} from '../../dist/mcp/create-mcp-service.js';

const schema = {type: 'object', properties: {text: {type: 'string'}}};
const host = {
  listTools: () => [
    {
      name: 'echo',
      title: 'Echo',
      description: 'Gives its text back, or waits for ever.',
      annotations: {readOnly: true, destructive: false, idempotent: true, openWorld: false},
      paramsSchema: schema,
      dataSchema: schema,
    },
  ],
  renderText: ({data}) => `echo: ${data?.text}`,
  call: async ({tool, params, request_id}, {signal}) => {
    if (params.text === 'wait') {
      process.stderr.write('started\n');
      // A timer of a running call keeps the process alive until the call is cancelled.
      const timer = setInterval(() => {}, 1000);
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      clearInterval(timer);
      process.stderr.write('cancelled\n');
    }
    const time = new Date(0).toISOString();
    return {
      request_id,
      tool,
      status: 'success',
      started_at: time,
      ended_at: time,
      duration_sec: 0,
      data: {text: params.text ?? ''},
      error: null,
      exit_code: null,
      stdout_path: null,
      stderr_path: null,
    };
  },
};
const service = createMcpService(host, {version: '0.0.0'});
const [mode, tokenFile] = process.argv.slice(2);

if (mode === 'stdio') {
  const {serveStdio} = await import('../../dist/mcp/serve-stdio.js');
  await serveStdio(service, {input: process.stdin, output: process.stdout});
  process.stderr.write('ended\n');
} else {
  const {serveHttp} = await import('../../dist/mcp/http/serve-http.js');
  const served = await serveHttp(service, {tokenFile});
  if (!served.ok) throw new Error(served.error.message);
  process.stdout.write(`${served.value.url}\n`);
  process.once('SIGTERM', () => void served.value.close());
}
