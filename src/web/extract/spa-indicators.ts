import {SourceText} from './tree/source-text.ts';

/** Where a value without quotes ends at a character that is not ASCII, it is still to be seen which one that is. */
const INDICATORS =
  /<script type=(?:"module"|'module'|module)>|id=(?:"(?:__next|app|root)"|'(?:__next|app|root)'|(__next|app|root)(?=[\s>/]|[^\x00-\x7f]))|window\.__(?:NUXT|INITIAL_STATE)__/gi;
const ENDS_VALUE = /[\s>/]/;

/**
 * FR-WF-12c.2: whether the HTML, as it came, holds one of the marks of a single-page application. Beyond the
 * letter, the quotes may be single or left out, as minifiers leave them out.
 */
export function hasSpaIndicators(html: string | SourceText): boolean {
  const source = SourceText.of(html);
  for (const {0: mark, 1: bare, index} of source.units.matchAll(INDICATORS)) {
    if (bare === undefined || ENDS_VALUE.test(source.from(index + mark.length, 1))) return true;
  }
  return false;
}
