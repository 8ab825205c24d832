import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';

/** Longer than any type that is registered. */
const MOST_CHARACTERS = 100;

/** FR-WF-10g. The type is the server's word: no more of it than a name has, and nothing that acts on a terminal. */
export function refuseMedia(contentType: string): Err<Failure> {
  const shown = contentType.slice(0, MOST_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
  return fail(
    'unsupported_content_type',
    `The document is "${shown}", neither HTML nor plain text. Look for an HTML or text version of it.`,
    {content_type: shown},
  );
}
