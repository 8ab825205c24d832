const INDICATORS =
  /<script type=(?:"module"|'module'|module)>|id=(?:"(?:__next|app|root)"|'(?:__next|app|root)'|(?:__next|app|root)(?=[\s>/]))|window\.__(?:NUXT|INITIAL_STATE)__/i;

/**
 * FR-WF-12c.2: whether the HTML, as it came, holds one of the marks of a single-page application. Beyond the
 * letter, the quotes may be single or left out, as minifiers leave them out.
 */
export function hasSpaIndicators(html: string): boolean {
  return INDICATORS.test(html);
}
