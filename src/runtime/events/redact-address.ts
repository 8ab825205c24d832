import {redactText} from './redact-text.ts';

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
