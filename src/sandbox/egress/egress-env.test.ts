import {expect, test} from 'vitest';
import {egressEnv} from './egress-env.ts';

const PROXY = 'http://127.0.0.1:3128';
const LOCAL = 'localhost,127.0.0.1,::1';
const BUNDLE = '/run/forge-egress/ca.pem';
const WAY_OUT = {
  ...{http_proxy: PROXY, https_proxy: PROXY, HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY},
  ...{no_proxy: LOCAL, NO_PROXY: LOCAL, NODE_USE_ENV_PROXY: '1'},
};

test('X1: a command finds its proxy by each name that programs know, but for servers of its own', () => {
  expect(egressEnv({endsTls: false})).toEqual(WAY_OUT);
});

test('X1: where the gate ends TLS, each program trusts its authority', () => {
  expect(egressEnv({endsTls: true})).toEqual({
    ...WAY_OUT,
    ...{SSL_CERT_FILE: BUNDLE, NODE_EXTRA_CA_CERTS: BUNDLE, npm_config_cafile: BUNDLE, PIP_CERT: BUNDLE},
    ...{REQUESTS_CA_BUNDLE: BUNDLE, CURL_CA_BUNDLE: BUNDLE, GIT_SSL_CAINFO: BUNDLE},
    CARGO_HTTP_CAINFO: BUNDLE,
  });
});
