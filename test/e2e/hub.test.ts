import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {startOrigin} from '../support/fleet.ts';
import {needs} from '../support/parts.ts';
import {startRedis} from '../support/redis-engine.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const REPLICA = fileURLToPath(new URL('../support/hub-replica.js', import.meta.url));

describe('S1 replicas in processes of their own', needs('Redis'), () => {
  test('S1 a replica that is killed while it leads is replaced within a turn', {
    tags: 'stress',
    timeout: 60_000,
  }, async () => {
    const engine = await startRedis();
    onTestFinished(engine.stop);
    let isFirst = true;
    const origin = await startOrigin((_, response) => {
      // The first one never gets its page.
      if (!isFirst) response.writeHead(200, {'Content-Type': 'text/plain'}).end('The page.');
      isFirst = false;
    });
    const start = () => {
      const child = spawn(
        process.execPath,
        [REPLICA, engine.url, String(origin.port), origin.url('/page'), temporaryDirectory()],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    const leader = start();
    await expect.poll(() => origin.pages().length, {timeout: 20_000}).toBe(1);
    const followers = [start(), start()].map(async child => {
      let printed = '';
      child.stdout.on('data', chunk => {
        printed += String(chunk);
      });
      await once(child, 'close');
      return JSON.parse(printed);
    });
    leader.kill('SIGKILL');
    for (const answer of await Promise.all(followers)) {
      expect(answer).toMatchObject({
        ok: true,
        value: {chunks: [{text: expect.stringContaining('The page.')}]},
      });
    }
    expect(origin.pages()).toHaveLength(2);
    expect(origin.robots()).toHaveLength(1);
  });

  test('S1 without tools.hub.url nothing of the hub is loaded', {tags: 'stress'}, async () => {
    const loaded = async (...args: readonly string[]): Promise<string> => {
      const script = `
        import {createToolbox} from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
        const toolbox = createToolbox({config: {tools: {hub: {url: ${JSON.stringify(args[0])}}, webfetch: {cache_dir: ''}}}});
        await toolbox.webFetch({url: 'http://127.0.0.1/'});
        await toolbox.close();
      `;
      const child = spawn(
        process.execPath,
        ['--input-type=module', '--experimental-loader', LOADER, '-e', script],
        {stdio: ['ignore', 'ignore', 'pipe'], env: {...process.env, NODE_NO_WARNINGS: '1'}},
      );
      let printed = '';
      child.stderr.on('data', chunk => {
        printed += String(chunk);
      });
      await once(child, 'close');
      return printed;
    };
    const without = await loaded('');
    expect(without).toContain('web-context');
    expect(without).not.toMatch(/@redis|hub\/(?:open-hub|connection|redis-client)/);
    expect(await loaded('redis://127.0.0.1:1')).toContain('@redis/client');
  });
});

/** Prints the address of every module that is loaded. */
const LOADER = `data:text/javascript,${encodeURIComponent(`
  export async function load(url, context, next) {
    process._rawDebug(url);
    return next(url, context);
  }
`)}`;
