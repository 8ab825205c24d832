import {onTestFinished} from 'vitest';
import {createToolbox, type LogEvent, type Toolbox, type ToolboxOptions} from '../../src/index.ts';
import {temporaryDirectory} from './temporary-directory.ts';

type WebFetchConfig = NonNullable<NonNullable<NonNullable<ToolboxOptions['config']>['tools']>['webfetch']>;

export interface TestToolbox {
  readonly toolbox: Toolbox;
  readonly cacheDir: string;
  readonly logs: readonly LogEvent[];
}

/**
 * A toolbox that may reach loopback on the given ports and nothing else unusual, with a cache directory
 * of its own; closed when the test is over. Names under `.test` resolve to 127.0.0.1.
 */
export function openTestToolbox(
  ports: readonly number[],
  webfetch: WebFetchConfig = {},
  options: Omit<ToolboxOptions, 'config' | 'log'> & {readonly maxBytes?: number} = {},
): TestToolbox {
  const cacheDir = webfetch.cache_dir ?? temporaryDirectory();
  const logs: LogEvent[] = [];
  const {maxBytes, ...rest} = options;
  const toolbox = createToolbox({
    resolver: {resolve: async () => ['127.0.0.1']},
    ...rest,
    log: event => logs.push(event),
    config: {
      tools: {
        ...(maxBytes !== undefined && {output: {max_bytes: maxBytes}}),
        webfetch: {
          ...webfetch,
          cache_dir: cacheDir,
          // The tests of the browser name theirs; all others are the same with and without one.
          browser: {chromium_path: '/nonexistent/chromium', ...webfetch.browser},
          security: {
            block_loopback: false,
            allow_insecure_overrides: true,
            allowed_ports: ports,
            ...webfetch.security,
          },
        },
      },
    },
  });
  onTestFinished(() => toolbox.close());
  return {toolbox, cacheDir, logs};
}
