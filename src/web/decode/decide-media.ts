import {ok, type Result} from '../../core/result.ts';
import type {ExtraMedia, Media} from '../page.ts';
import {parseContentType} from './parse-content-type.ts';
import {refuseMedia} from './refuse-media.ts';

export interface DeclaredMedia {
  /** `undefined`: nothing that decides is declared, `sniffMedia` does on the body. */
  readonly media: Media | undefined;
  /** Where the body decides, but not everything may come of it: what was declared, for the refusal. */
  readonly declared?: string;
  readonly charset: string | undefined;
}

interface MediaOptions {
  /** Rulings C5 and R3: what is read beside HTML and plain text. */
  readonly accepts: ReadonlySet<ExtraMedia>;
}

const EXTRA_TYPES: ReadonlyMap<string, ExtraMedia> = new Map([
  ['text/markdown', 'markdown'],
  ['text/x-markdown', 'markdown'],
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/rss+xml', 'feed'],
  ['application/atom+xml', 'feed'],
  ['application/rdf+xml', 'feed'],
  ['application/pdf', 'pdf'],
  ['application/x-pdf', 'pdf'],
]);

/** Types that say little: servers send feeds and PDF under them, and much else. */
const VAGUE_TYPES: ReadonlyMap<string, ExtraMedia> = new Map([
  ['application/xml', 'feed'],
  ['text/xml', 'feed'],
  ['application/octet-stream', 'pdf'],
  ['binary/octet-stream', 'pdf'],
]);

/** FR-WF-10f, FR-WF-10g, ruling R3: what the `Content-Type` values say. Errors: `unsupported_content_type`. */
export function decideMedia(
  contentType: readonly string[] | undefined,
  {accepts}: MediaOptions,
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
  }
  const media = EXTRA_TYPES.get(mediaType) ?? (mediaType.endsWith('+json') ? 'json' : undefined);
  if (media !== undefined) return accepts.has(media) ? ok({media, charset}) : refuseMedia(mediaType, accepts);
  const perhaps = VAGUE_TYPES.get(mediaType);
  return perhaps !== undefined && accepts.has(perhaps)
    ? ok({media: undefined, declared: mediaType, charset})
    : refuseMedia(mediaType, accepts);
}
