import {PROXY_PORT} from './relay-script.ts';

/** What a command finds in its environment where there is a way out. */
export function egressEnv(): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const local = 'localhost,127.0.0.1,::1';
  return {
    // curl and apt read http_proxy in lower case only; npm, pip, git, cargo and Go read either.
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    // Servers that a command itself has started.
    no_proxy: local,
    NO_PROXY: local,
    // Node's own fetch, from 22.21 and 24.5 on.
    NODE_USE_ENV_PROXY: '1',
  };
}
