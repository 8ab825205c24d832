// Removes secrets, addresses and long texts from what is logged.
import {createHash} from 'node:crypto';
import type {Json} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import {wellFormedJson} from '../core/text/parse.ts';
import type {Intent, ToolResult} from '../core/tool.ts';
import type {EventPayload} from './run-event.ts';

/** Names under which a whole value is meant as an address, whether it is one or not. */
const NAME = /^(?:url|uri|href|address|location)$|_(?:url|uri)$/i;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Whether what is stored under the name is an address as a caller or a server wrote it. */
export function isAddressName(name: string): boolean {
  return NAME.test(name);
}

/**
 * FR-WF-19b, also for what does not parse: nothing behind a `?` or `#`, and nothing of an address that has no
 * `//`, where everything could be a document (`data:`), a program (`javascript:`) or a name with a password.
 */
export function redactAddress(text: string): string {
  const written = text.trim();
  const [scheme = ''] = SCHEME.exec(written) ?? [];
  const rest = written.slice(scheme.length);
  // `host:80/path` looks like a scheme and is none.
  const isPort = /^\d{1,5}(?:[/?#]|$)/.test(rest);
  if (scheme !== '' && !isPort && !/^[/\\]{2}/.test(rest)) return `${scheme}…`;
  const [visible = ''] = written.split(/[?#]/, 1);
  return redactText(visible.length < written.length ? `${visible}?…` : visible);
}

interface RedactionLimits {
  readonly longestText: number;
  /** Of a longer one this much is shown; the rest is its length and hash. */
  readonly shown: number;
  readonly mostEntries: number;
  readonly deepest: number;
  /** Of the whole payload. */
  readonly mostCharacters: number;
}

const OF_AN_EVENT: RedactionLimits = {
  longestText: 1000,
  shown: 200,
  mostEntries: 100,
  deepest: 12,
  // A line stays far below what `verifyLog` accepts.
  mostCharacters: 32_000,
};

/**
 * What of a payload is written down: no query strings, credentials or secrets. Of an event nothing long
 * either: long text (a diff, the content of a file) is in an artifact; here its hash says which it was.
 */
export function redactPayload(payload: EventPayload, limits = OF_AN_EVENT): EventPayload {
  const {mostEntries, deepest} = limits;
  let left = limits.mostCharacters;

  const walk = (value: Json, depth: number, secret: boolean, name = ''): Json => {
    if (typeof value === 'string') {
      if (secret && value !== '') return REDACTED;
      return spend(shorten(isAddressName(name) ? redactAddress(value) : value, limits));
    }
    if (typeof value !== 'object' || value === null) {
      left -= 8;
      return value;
    }
    if (depth === deepest || left <= 0) return '…';
    if (Array.isArray(value)) {
      const shown = value.slice(0, mostEntries).map((entry: Json) => walk(entry, depth + 1, secret, name));
      return value.length > mostEntries ? [...shown, `… ${value.length - mostEntries} more`] : shown;
    }
    const entries = Object.entries<Json>(value);
    const shown = entries
      .slice(0, mostEntries)
      .map(
        ([key, entry]) =>
          [spend(shorten(key, limits)), walk(entry, depth + 1, secret || isSecretName(key), key)] as const,
      );
    const more = entries.length > mostEntries ? [['…', `${entries.length - mostEntries} more`] as const] : [];
    return Object.fromEntries([...shown, ...more]);
  };

  const spend = (text: string): string => {
    if (left <= 0) return '…';
    left -= text.length + 4;
    return text;
  };

  // The payload itself is an object, so what is walked is one too.
  return wellFormedJson(walk(payload, 0, false) as EventPayload);
}

function shorten(text: string, {longestText, shown}: RedactionLimits): string {
  if (text.length <= longestText) return redactText(text);
  // Redacted before it is cut: half a URL no longer shows where its password ends.
  const head = takeStart(redactText(takeStart(text, longestText)), shown);
  const hash = createHash('sha256').update(text).digest('hex');
  return `${head}… [${text.length} characters, sha256 ${hash}]`;
}

/** Names under which secrets travel. `max_tokens` and `author` are none. */
const SECRET_NAME =
  '[\\w.-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|cookie|credentials?)(?![a-z])';

/** A URL, a well-known shape of key, or `NAME=value`, `--name value`, `name: value` of a secret name. */
const URL_IN_TEXT = /\b[a-z][a-z0-9+.-]{0,20}:(?:\/\/|\\\\|(?=[^\s"'<>]{0,300}@))[^\s"'<>`]+/gi;
/** What stands behind these schemes is a document or a program, and not where it is. */
const OPAQUE_URL = /\b(data|javascript|vbscript|blob):[^\s"'<>`]+/gi;
const KEY_SHAPE =
  /\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[a-z]-[\w-]{8,}|A(?:KIA|SIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)/g;
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;
const NAMED = new RegExp(
  `(${SECRET_NAME})(["']?\\s{0,4}(?:=|:)\\s{0,4}["']?|\\s{1,4})([^\\s"'&;|]{3,})`,
  'gi',
);

/** `name`, `name:port` or `[address]:port` */
const HOST = /^(?:\[[^\]]*\]|[^:]*)(?::\d{0,5})?$/;
const LONGEST_HOST = 260;

const SECRET_KEY = new RegExp(`^${SECRET_NAME}$`, 'i');

const REDACTED = '[redacted]';

/** Whether what is stored under the name is a secret whatever it looks like. */
export function isSecretName(name: string): boolean {
  return name.length <= 100 && SECRET_KEY.test(name);
}

/**
 * FR-WF-19b: the text without query strings, credentials and what looks like a key. A net, not a
 * proof: a secret that looks like a word passes.
 */
export function redactText(text: string): string {
  return text
    .replace(PRIVATE_KEY, REDACTED)
    .replace(URL_IN_TEXT, redactUrl)
    .replace(OPAQUE_URL, '$1:…')
    .replace(KEY_SHAPE, REDACTED)
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(NAMED, (whole, name: string, sign: string) =>
      // `token count` is prose; `--token abc` and `TOKEN=abc` are not.
      sign.trim() === '' && !name.startsWith('-') ? whole : `${name}${sign}${REDACTED}`,
    );
}

/** Scheme, host and path. The authority ends as WHATWG ends it; what precedes its last `@` goes. */
function redactUrl(url: string): string {
  const [, scheme = '', rest = ''] = /^([^:]*:)([\s\S]*)$/.exec(url) ?? [];
  const visible = rest.split(/[?#]/, 1)[0] ?? '';
  const cut = visible.length < rest.length ? '?…' : '';
  const [, slashes = '', authority = '', path = ''] = /^([/\\]*)([^/\\]*)([\s\S]*)$/.exec(visible) ?? [];
  const named = authority.slice(authority.lastIndexOf('@') + 1);
  // Of text that was cut, a password can stand where the host would be.
  const host = named.length <= LONGEST_HOST && HOST.test(named) ? named : '…';
  return `${scheme}${slashes}${named === authority ? '' : '…@'}${host}${path}${cut}`;
}

/** A file of the run directory, as `tool_call_finished` names it. */
export interface Artifact {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The largest answer by default fits; what a configuration allows beyond that is cut. */
const OF_A_RECORD: RedactionLimits = {
  longestText: 262_144,
  shown: 262_144,
  mostEntries: 10_000,
  deepest: 24,
  mostCharacters: 1_000_000,
};

/** `calls/step_0007.json` */
export function stepRecordPath(step: number): string {
  return `calls/step_${String(step).padStart(4, '0')}.json`;
}

/**
 * A call as a whole, redacted as events are, but with its long texts: what was asked, what it was going
 * to do (`null` where it did not get that far), and the result that the caller got.
 */
export function renderCallRecord(params: Json, intent: Intent | undefined, result: ToolResult): string {
  const record = {
    version: 1,
    params,
    intent: intent === undefined ? null : {summary: intent.summary, preview: intent.preview},
    result: {...result, error: result.error === null ? null : {...result.error}},
  };
  return `${JSON.stringify(redactPayload(record, OF_A_RECORD))}\n`;
}

export function hashArtifact(path: string, content: Uint8Array | string): Artifact {
  return {
    path,
    bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}
