// Secrets of the operator, each for one origin.

import {scryptSync} from 'node:crypto';
import {readFileSync, realpathSync, statSync} from 'node:fs';
import {sep} from 'node:path';
import {toUrl} from '../../core/text/parse.ts';
import {errorCode} from '../../system/errors.ts';
import type {WebFetchOptions} from '../options.ts';
import type {Credential} from '../page.ts';

/** `https://host[:port]` of an entry of `[[tools.webfetch.credentials]]`; `undefined` where it names no one host. */
export function credentialOrigin({
  host,
}: Pick<WebFetchOptions['credentials'][number], 'host'>): string | undefined {
  if (host === '' || /[*@/?#\\\s]/.test(host)) return undefined;
  return toUrl(`https://${host}/`)?.origin;
}

/** The credential of an origin. Nothing but https has one. */
export function credentialFor(origin: string, credentials: readonly Credential[]): Credential | undefined {
  return credentials.find(credential => credential.origin === origin);
}

/**
 * Under which address a page is cached: its own, or one apart for what a credential showed. Another credential, and
 * none, have other pages. No page's address has a fragment.
 */
export function cacheAddress(url: string, credential: Credential | undefined): string {
  return credential !== undefined && new URL(url).origin === credential.origin
    ? `${url}#credential=${credential.id}`
    : url;
}

type Entry = WebFetchOptions['credentials'][number];

interface Places {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Real paths of trees in which nothing is believed, such as the workspace. */
  readonly untrustedTrees: readonly string[];
}

/** The setting that `readCredentials` reads where it is told no other. */
const KEY = 'tools.webfetch.credentials';
const MOST_BYTES = 16_384;
/** RFC 9110 §5.6.2 */
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** What says how the message itself is read, or who asks, is not a credential. */
const OURS = new Set(
  'host connection content-length transfer-encoding te trailer upgrade expect accept accept-encoding user-agent range if-none-match if-modified-since proxy-authorization proxy-connection keep-alive signature signature-input signature-agent'.split(
    ' ',
  ),
);

/**
 * Reads `[[tools.webfetch.credentials]]`, or another list of the same form, with the secrets that they name. `problems`
 * are the messages with which start-up is refused; no secret is in one.
 */
export function readCredentials(
  entries: WebFetchOptions['credentials'],
  places: Places,
  key = KEY,
): {readonly credentials: readonly Credential[]; readonly problems: readonly string[]} {
  const problems: string[] = [];
  const credentials: Credential[] = [];
  entries.forEach((entry, index) => {
    const at = `${key}[${index}]`;
    const origin = credentialOrigin(entry);
    if (origin === undefined) {
      problems.push(
        `Expected ${at}.host to be one host with or without a port, such as "api.example.com" or "git.example.com:8443", got "${entry.host}".`,
      );
    } else if (credentials.some(known => known.origin === origin)) {
      problems.push(`${at} is a second credential for ${origin}. Keep one of them.`);
    }
    const header = entry.header.toLowerCase();
    if (!FIELD_NAME.test(header) || OURS.has(header)) {
      problems.push(
        `Expected ${at}.header to be a header that carries a credential, such as "Authorization" or "X-Api-Key", got "${entry.header}".`,
      );
    }
    const secret = readSecret(entry, at, places);
    if (typeof secret !== 'object') problems.push(secret);
    else if (!isFieldValue(entry.prefix + secret.text)) {
      problems.push(
        `The ${sourceOf(entry)} of ${at} is empty or cannot stand in a header. It may hold printable ASCII characters without line breaks.`,
      );
    } else if (origin !== undefined) {
      credentials.push(credential(origin, entry, entry.prefix + secret.text));
    }
  });
  return {credentials, problems};
}

/** How people are told which secret it is, without the secret. */
export function sourceOf({env, file}: Pick<Entry, 'env' | 'file'>): string {
  return env === '' ? `file ${file}` : `environment variable ${env}`;
}

/** The value is behind a function, so that nothing that prints or copies an object has it. */
function credential(origin: string, entry: Entry, value: string): Credential {
  let id: string | undefined;
  return {
    origin,
    header: entry.header,
    value: () => value,
    get id() {
      // Slow on purpose: whoever can list the cache must not find a short password by trying.
      id ??= scryptSync(`${entry.header.toLowerCase()}\n${value}`, origin, 12).toString('hex');
      return id;
    },
  };
}

function readSecret(entry: Entry, at: string, {env, untrustedTrees}: Places): {text: string} | string {
  if ((entry.env === '') === (entry.file === '')) {
    return `Expected ${at} to name either "env", an environment variable, or "file". Add one of them.`;
  }
  if (entry.env !== '') {
    const text = env[entry.env];
    return text === undefined
      ? `${at} names the environment variable ${entry.env}, which is not set. Set it, or take the credential out.`
      : {text};
  }
  try {
    const path = realpathSync(entry.file);
    if (untrustedTrees.some(tree => path === tree || path.startsWith(tree + sep))) {
      return `${at}.file is in the workspace, where tools read it. Move ${entry.file} elsewhere.`;
    }
    const {size} = statSync(path);
    if (size > MOST_BYTES)
      return `${at}.file has ${size} bytes, which is no credential. Write the secret alone.`;
    return {text: readFileSync(path, 'utf8').replace(/\r?\n$/, '')};
  } catch (error) {
    return `${at}.file cannot be read (${errorCode(error) ?? 'no code'}): ${entry.file}. Write the secret there, or take the credential out.`;
  }
}

function isFieldValue(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}
