import {type Failure, fail} from '../../core/failure.ts';
import type {Err} from '../../core/result.ts';

/** FR-WF-10g */
export function refuseMedia(contentType: string): Err<Failure> {
  return fail(
    'unsupported_content_type',
    `The document is "${contentType}", neither HTML nor plain text. Look for an HTML or text version of it.`,
    {content_type: contentType},
  );
}
