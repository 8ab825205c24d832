import {BlockList} from 'node:net';
import {resolveConfig} from '../../../dist/config/resolve-config.js';
import {checkUrl} from '../../../dist/web/guard/check-url.js';
import {readGuardPolicy} from '../../../dist/web/guard/policy.js';
import {parseUrl, redactUrl, resolveUrl} from '../../../dist/web/url.js';
import {expectThat} from '../expect-that.js';

const {value: defaults} = resolveConfig({}, {env: {}, cwd: '/', tempDir: '/tmp'});
const {policy} = readGuardPolicy(defaults.config.tools.webfetch.security).value;

/** Independent of our own table: what may be reached by nobody. */
const forbidden = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]) {
  forbidden.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
  ['2001:db8::', 32],
  ['2002::', 16],
]) {
  forbidden.addSubnet(network, prefix, 'ipv6');
}

const base = parseUrl('https://example.com/a/b?c').value;

/** SRD 3.2.1: a value in any case, WHATWG's reading in every accepted case, and no way around the ranges. */
function check(bytes) {
  const input = Buffer.from(bytes).toString('utf8');
  const parsed = parseUrl(input);
  const whatwg = parsedByPlatform(input);
  const password = secretOf(whatwg);
  if (password !== undefined) expectThat(!redactUrl(input).includes(password), 'a password is shown', input);
  resolveUrl(input, base);
  if (!parsed.ok) {
    const {code, message} = parsed.error;
    expectThat(['invalid_url', 'invalid_scheme', 'invalid_host'].includes(code), 'the code', code);
    if (password !== undefined) expectThat(!message.includes(password), 'a password is shown', message);
    const plain = whatwg !== undefined && /^https?:$/.test(whatwg.protocol) && !/@/.test(input);
    const isNamed = plain && /[a-z]/.test(whatwg.hostname.replace(/^\[.*\]$/, 'a'));
    expectThat(!isNamed, 'what the platform reads is refused', input, message);
    return;
  }
  const url = parsed.value;
  expectThat(whatwg !== undefined, 'what the platform refuses is accepted', input);
  expectThat(whatwg.username === '' && whatwg.password === '', 'credentials are accepted', input);
  expectThat(whatwg.hostname === url.host, 'the host is another one', input, url.host, whatwg.hostname);
  expectThat(whatwg.origin === url.origin, 'the origin is another one', url.origin, whatwg.origin);
  const again = parseUrl(url.canonical);
  expectThat(
    again.ok && again.value.canonical === url.canonical,
    'reading it again changes it',
    url.canonical,
  );
  expectThat(!url.canonical.includes('#'), 'a fragment is kept', url.canonical);
  expectThat(/^[!-~]*$/.test(url.pathAndQuery), 'a request line can be split', url.pathAndQuery);
  const family = url.address?.includes(':') ? 'ipv6' : 'ipv4';
  if (url.address !== undefined && forbidden.check(url.address, family)) {
    expectThat(!checkUrl(url, policy).ok, 'a forbidden address is let through', url.address);
  }
}

/** A password that is long enough not to be there by chance, and is nowhere else. */
function secretOf(url) {
  if (url === undefined || url.password.length < 6) return undefined;
  const rest = `${url.protocol}${url.username}${url.host}${url.pathname}`;
  return rest.includes(url.password) ? undefined : url.password;
}

function parsedByPlatform(input) {
  try {
    return new URL(input);
  } catch {
    return undefined;
  }
}

export const target = {
  check,
  modules: ['/dist/web/url.js', '/dist/web/guard/'],
  maxLength: 512,
  // biome-ignore format: a list
  seeds: [
    'http://example.com/a?b=c#d', 'https://user:hunter2@example.com/', 'http://[::1]:80/', 'http://0x7f.1/',
    'http://[fe80::1%25eth0]/', 'http:\\\\127.1\\', '//example.com',
    'http://xn--bcher-kva.example/%2e%2E/%7e', 'http://[64:ff9b::10.0.0.1]/',
  ],
  // biome-ignore format: a list
  tokens: [
    'http', 'https', '://', ':', '/', '\\', '@', ':hunter2@', '?', '#', '%', '%2f', '%00', '.', '..', '%2e',
    '127.0.0.1', '0x7f', '017', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '[', ']', '%25', 'localhost',
    '１', '。', 'ß', 'é', 'xn--', '\t', '\n', '\r', ' ', '\0', ':80', ':0', ':65536', 'ftp:', 'javascript:',
    'fc00::', '64:ff9b::', '2002:', '169.254.169.254', '10.', '%31', '①', '\u200d', '\ufeff',
  ],
};
