import type {ReadPage} from '../toolbox-services.ts';
import type {PageFormat} from './page-file-name.ts';

/** A page as it is kept: its Markdown below what is known of it, or the response of `web_fetch` as it is. */
export function renderPageFile({response, markdown}: ReadPage, format: PageFormat): string {
  if (format === 'json') return `${JSON.stringify(response)}\n`;
  const {final_url, title, language, fetched_at, rendering_method, chunks, notes} = response;
  const facts = {
    url: final_url,
    title,
    language,
    fetched_at,
    rendering_method,
    tokens: chunks.reduce((sum, chunk) => sum + chunk.token_count, 0),
    notes: notes.length > 0 ? notes : undefined,
  };
  // JSON is YAML: what a page calls itself cannot end the line or the block.
  const lines = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${JSON.stringify(value)}`,
  );
  return `---\n${lines.join('\n')}\n---\n\n${markdown.replace(/\n+$/, '')}\n`;
}
