const INDICATORS = /<script type="module">|id="(?:__next|app|root)"|window\.__(?:NUXT|INITIAL_STATE)__/i;

/** FR-WF-12c.2: whether the HTML, as it came, holds one of the marks of a single-page application. */
export function hasSpaIndicators(html: string): boolean {
  return INDICATORS.test(html);
}
