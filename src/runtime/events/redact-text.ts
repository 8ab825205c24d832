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

export const REDACTED = '[redacted]';

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
