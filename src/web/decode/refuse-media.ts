import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';
import type {ExtraMedia} from '../page.ts';

/** Longer than any type that is registered. */
const MOST_CHARACTERS = 100;

const NAMES: Readonly<Record<ExtraMedia, string>> = {
  markdown: 'Markdown',
  json: 'JSON',
  feed: 'feeds',
  pdf: 'PDF',
};

/**
 * FR-WF-10g, ruling R3. The type is the server's word: no more of it than a name has, and nothing that acts on a
 * terminal.
 */
export function refuseMedia(contentType: string, accepts: ReadonlySet<ExtraMedia>): Err<Failure> {
  const shown = contentType.slice(0, MOST_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
  const said =
    accepts.size === 0
      ? 'neither HTML nor plain text. Look for an HTML or text version of it.'
      : `which is not read here. Look for a version of it in HTML, plain text, or what is: ${[...accepts].map(media => NAMES[media]).join(', ')}.`;
  return fail('unsupported_content_type', `The document is "${shown}", ${said}`, {content_type: shown});
}
