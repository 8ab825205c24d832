import {expectedErrorCode} from '../../../system/error-code.ts';
import {LARGEST_ENTRY, parseEntry} from '../entry.ts';
import {readFile} from '../read-file.ts';

/** Longer than everything that precedes the field, but for a very long URL. */
const HEAD_BYTES = 4096;
/** Inside a JSON string the quotation marks would be escaped, so this is the field and no page's text. */
const FIELD = /"last_accessed_at":"([^"\\]{1,40})"/;

/**
 * When an entry was last used, in milliseconds since the epoch; 0 if it does not say, so that it is the
 * first to go. `undefined` if there is no such file.
 */
export async function readLastAccess(path: string, maxBytes: number): Promise<number | undefined> {
  try {
    const head = await readFile(path, HEAD_BYTES, 'head');
    if (!head) return 0;
    const [, found] = FIELD.exec(head.bytes.toString('latin1')) ?? [];
    if (found !== undefined) return timeOf(found);
    if (head.size <= HEAD_BYTES || head.size > Math.min(maxBytes, LARGEST_ENTRY)) return 0;
    const whole = await readFile(path, maxBytes);
    return timeOf((whole && parseEntry(whole.bytes))?.last_accessed_at ?? '');
  } catch (error) {
    return expectedErrorCode(error) === 'ENOENT' ? undefined : 0;
  }
}

function timeOf(text: string): number {
  return Date.parse(text) || 0;
}
