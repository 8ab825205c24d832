import {ok, type Result} from '../../core/result.ts';
import {parseContentType} from './parse-content-type.ts';
import {refuseMedia} from './refuse-media.ts';

/** What becomes of a body: extraction, or passing through as text or as Markdown. */
export type Media = 'html' | 'text' | 'markdown';

export interface DeclaredMedia {
  /** `undefined`: nothing is declared, `sniffMedia` decides on the body. */
  readonly media: Media | undefined;
  readonly charset: string | undefined;
}

interface MediaOptions {
  /** Ruling C5: `tools.webfetch.http.accept_markdown`. */
  readonly acceptMarkdown: boolean;
}

/** FR-WF-10f, FR-WF-10g: what the `Content-Type` values say. Errors: `unsupported_content_type`. */
export function decideMedia(
  contentType: readonly string[] | undefined,
  options: MediaOptions,
): Result<DeclaredMedia> {
  const {mediaType, charset} = parseContentType(contentType);
  switch (mediaType) {
    // Ruling C6: an empty header is a missing one.
    case undefined:
      return ok({media: undefined, charset});
    case 'text/html':
    case 'application/xhtml+xml':
      return ok({media: 'html', charset});
    case 'text/plain':
      return ok({media: 'text', charset});
    case 'text/markdown':
      return options.acceptMarkdown ? ok({media: 'markdown', charset}) : refuseMedia(mediaType);
    default:
      return refuseMedia(mediaType);
  }
}
