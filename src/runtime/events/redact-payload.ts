import {createHash} from 'node:crypto';
import type {Json} from '../../core/json.ts';
import {isSecretName, REDACTED, redactText} from './redact-text.ts';
import type {EventPayload} from './run-event.ts';

const LONGEST_TEXT = 1000;
/** Of a longer one this much is shown; the rest is its length and hash. */
const SHOWN = 200;
const MOST_ENTRIES = 100;
const DEEPEST = 12;
/** Of one event, so that a line stays far below what `verifyLog` accepts. */
const MOST_CHARACTERS = 32_000;

/**
 * What of an event is written down: no query strings, credentials or secrets, nothing long. Long text
 * (a diff, the content of a file) is in an artifact; here its hash says which it was.
 */
export function redactPayload(payload: EventPayload): EventPayload {
  let left = MOST_CHARACTERS;

  const walk = (value: Json, depth: number, secret: boolean): Json => {
    if (typeof value === 'string') return secret && value !== '' ? REDACTED : spend(shorten(value));
    if (typeof value !== 'object' || value === null) {
      left -= 8;
      return value;
    }
    if (depth === DEEPEST || left <= 0) return '…';
    if (Array.isArray(value)) {
      const shown = value.slice(0, MOST_ENTRIES).map((entry: Json) => walk(entry, depth + 1, secret));
      return value.length > MOST_ENTRIES ? [...shown, `… ${value.length - MOST_ENTRIES} more`] : shown;
    }
    const entries = Object.entries<Json>(value);
    const shown = entries
      .slice(0, MOST_ENTRIES)
      .map(
        ([key, entry]) => [spend(shorten(key)), walk(entry, depth + 1, secret || isSecretName(key))] as const,
      );
    const more =
      entries.length > MOST_ENTRIES ? [['…', `${entries.length - MOST_ENTRIES} more`] as const] : [];
    return Object.fromEntries([...shown, ...more]);
  };

  const spend = (text: string): string => {
    if (left <= 0) return '…';
    left -= text.length + 4;
    return text;
  };

  // The payload itself is an object, so what is walked is one too.
  return walk(payload, 0, false) as EventPayload;
}

function shorten(text: string): string {
  if (text.length <= LONGEST_TEXT) return redactText(text);
  // Redacted before it is cut: half a URL no longer shows where its password ends.
  const head = redactText(text.slice(0, LONGEST_TEXT)).slice(0, SHOWN);
  const hash = createHash('sha256').update(text).digest('hex');
  return `${head}… [${text.length} characters, sha256 ${hash}]`;
}
