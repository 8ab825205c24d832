// Turns the chunks and passages of an answer into search results that Anthropic's models can cite. It also runs a
// call whose arguments a model wrote as JSON.
import type {Json} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import type {CallOptions, ToolHost} from '../core/tool-host.ts';

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

/** Calls a tool with arguments as a model wrote them, and gives the text for the model. */
export async function callWithJson(
  host: ToolHost,
  call: {readonly id: string; readonly tool: string; readonly json: string},
  options?: CallOptions,
): Promise<string> {
  let params: Json = {};
  try {
    // Some models send nothing at all where a tool needs no argument (ruling H2).
    if (call.json.trim() !== '') params = JSON.parse(call.json);
  } catch {
    return `invalid_params: The arguments of ${call.tool} are not valid JSON. Call again with one JSON object.`;
  }
  // The toolbox refuses what is no object.
  const request = {tool: call.tool, params: params as {readonly [name: string]: Json}, request_id: call.id};
  return host.renderText(await host.call(request, options));
}
