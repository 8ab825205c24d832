import type {WebFetchOptions} from './options.ts';
import type {ExtraMedia, ReadingTerms} from './page.ts';

/** Ruling C5: what `web_fetch` reads beside HTML and plain text. */
export function ownMedia({http}: Pick<WebFetchOptions, 'http'>): ReadonlySet<ExtraMedia> {
  return new Set(http.accept_markdown ? ['markdown'] : []);
}

/** Ruling R3: the name of the media that are read beside those of `web_fetch`; '' where they are the same. */
export function mediaVariant(
  reading: ReadingTerms | undefined,
  options: Pick<WebFetchOptions, 'http'>,
): string {
  const name = (media: ReadonlySet<ExtraMedia>): string => [...media].sort().join('+');
  const wanted = name(reading?.accepts ?? new Set());
  return wanted === name(ownMedia(options)) ? '' : wanted;
}

/** Rulings R2, R3: the name of the terms that make another page of an address; '' for those of the SRD. */
export function readingVariant(
  reading: ReadingTerms | undefined,
  options: Pick<WebFetchOptions, 'http' | 'extraction'>,
): string {
  const {mode} = options.extraction;
  return [mediaVariant(reading, options), mode === 'srd' ? '' : mode].filter(part => part !== '').join(',');
}
