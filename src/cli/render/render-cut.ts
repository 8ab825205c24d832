import type {FetchResponse} from '../../index.ts';

/** For standard error: what is missing of a page, and how to get it. `undefined` where nothing is. */
export function renderCut({
  final_url,
  truncated,
  truncation_reason: reason,
}: Pick<FetchResponse, 'final_url' | 'truncated' | 'truncation_reason'>): string | undefined {
  if (!truncated) return undefined;
  return `${final_url} is not complete: ${reason === undefined ? 'a part is missing.' : EXPLANATIONS[reason]}\n`;
}

const EXPLANATIONS: Readonly<Record<NonNullable<FetchResponse['truncation_reason']>, string>> = {
  tool_output_limit:
    'chunks at its end do not fit into tools.output.max_bytes. Raise it, or leave out --json, which gives the whole page.',
  browser_dom_truncated:
    'the rendered document was cut at tools.webfetch.browser.max_rendered_dom_bytes. Raise it.',
  browser_timeout_dom_partial:
    'it was still loading after tools.webfetch.browser.network_idle_ms. Fetch it again, or raise that.',
};
