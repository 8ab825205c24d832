// A replica in a process of its own, to be killed: fetches one page and says when it is done.
// usage: node hub-replica.js ENGINE PORT URL CACHE
import {createToolbox} from '../../dist/index.js';

const [engine, port, url, cacheDir] = process.argv.slice(2);
const toolbox = createToolbox({
  resolver: {resolve: async () => ['127.0.0.1']},
  config: {
    tools: {
      hub: {url: engine, budget_ms: 10_000, host_gap_ms: 0},
      webfetch: {
        cache_dir: cacheDir,
        timeout_seconds: 60,
        browser: {enabled: false},
        security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [Number(port)]},
      },
    },
  },
});
const answer = await toolbox.webFetch({url});
await toolbox.close();
process.stdout.write(JSON.stringify(answer));
