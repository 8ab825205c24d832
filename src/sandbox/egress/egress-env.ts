import {PROXY_PORT, TRUSTED_BUNDLE} from './relay-script.ts';

/** Where programs look for whom they are to trust: OpenSSL, Node, npm, pip and its libraries, curl, git, cargo. */
const BUNDLE_NAMES = [
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  // Stronger than a `cafile` of the machine, beside which npm believes nobody else.
  'npm_config_cafile',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
];

/** What a command finds in its environment where there is a way out. */
export function egressEnv({endsTls}: {readonly endsTls: boolean}): Record<string, string> {
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
    ...(endsTls ? Object.fromEntries(BUNDLE_NAMES.map(name => [name, TRUSTED_BUNDLE])) : {}),
  };
}
