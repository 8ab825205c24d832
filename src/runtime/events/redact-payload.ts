import {createHash} from 'node:crypto';
import type {Json} from '../../core/json.ts';
import {takeStart} from '../../core/text/take-start.ts';
import {wellFormedJson} from '../../core/text/well-formed-json.ts';
import {isAddressName, redactAddress} from './redact-address.ts';
import {isSecretName, REDACTED, redactText} from './redact-text.ts';
import type {EventPayload} from './run-event.ts';

export interface RedactionLimits {
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
