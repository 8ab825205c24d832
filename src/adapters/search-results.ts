import type {Json} from '../core/json.ts';
import type {ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';

export interface AnthropicText {
  type: 'text';
  text: string;
}

/** A passage that the model can cite, with where it is from. */
export interface AnthropicSearchResult {
  type: 'search_result';
  source: string;
  title: string;
  content: AnthropicText[];
  citations: {enabled: true};
}

/** Which list of texts an answer of a tool has. The rest of it stays a text. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['web_read', 'passages'],
  ['web_fetch', 'chunks'],
]);

/**
 * What a page says as blocks that can be cited, behind the frame of the answer without them. `undefined` where there
 * are none.
 */
export function searchResults(
  result: ToolResult,
  host: Pick<ToolHost, 'renderText'>,
): (AnthropicText | AnthropicSearchResult)[] | undefined {
  const field = TEXTS.get(result.tool);
  const {data} = result;
  if (field === undefined || result.status !== 'success' || !isObject(data)) return undefined;
  const texts = data[field];
  const source = data['final_url'];
  if (!Array.isArray(texts) || texts.length === 0 || typeof source !== 'string') return undefined;
  const title = typeof data['title'] === 'string' ? data['title'] : source;
  const shown: readonly Fields[] = texts.filter(isObject);
  const blocks = shown.flatMap((one): AnthropicSearchResult[] => {
    const text = typeof one['text'] === 'string' ? one['text'].trim() : '';
    const content: AnthropicText[] = [{type: 'text', text}];
    const named = titleOf(title, one);
    // The API refuses an empty one.
    return text === ''
      ? []
      : [{type: 'search_result', source, title: named, content, citations: {enabled: true}}];
  });
  if (blocks.length === 0) return undefined;
  const frame = {...result, data: {...data, [field]: shown.map(one => ({...one, text: ''}))}};
  return [{type: 'text', text: host.renderText(frame).trim()}, ...blocks];
}

/** The title of the page, and the heading that the text stands under. */
function titleOf(title: string, text: Fields): string {
  const {section} = text;
  const heading = text['heading'] ?? (isObject(section) ? section['heading'] : undefined);
  return typeof heading === 'string' && heading !== '' ? `${title} – ${heading}` : title;
}

interface Fields {
  readonly [name: string]: Json;
}

function isObject(value: Json | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
