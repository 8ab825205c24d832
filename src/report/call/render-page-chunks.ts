import type {Json} from '../../core/json.ts';
import {numberIn, textIn} from '../json-field.ts';
import {linkTarget} from '../link-target.ts';
import {renderMarkdown} from '../markdown/render-markdown.ts';
import {type Element, element, type Markup} from '../markup.ts';
import type {Allowance} from './allowance.ts';
import {leftOut, renderFields} from './render-value.ts';

/** A fetched page: what its Markdown looks like, and beside it each chunk as it was counted. */
export function renderPageChunks(
  data: Json,
  chunks: readonly Json[],
  allowance: Allowance,
): readonly Markup[] {
  const title = textIn(data, 'title');
  const url = textIn(data, 'final_url') ?? textIn(data, 'requested_url') ?? '';
  const href = linkTarget(url);
  const tokens = chunks.reduce<number>((sum, chunk) => sum + (numberIn(chunk, 'token_count') ?? 0), 0);
  const where = element('code', {class: 'target'}, url);
  const facts = ['fetched_at', 'rendering_method', 'language', 'truncation_reason'].flatMap(name => {
    const value = textIn(data, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return [
    element('p', {class: 'page-title'}, element('strong', {}, title ?? 'Untitled page')),
    element('p', {}, href === undefined ? where : element('a', {href}, where)),
    renderFields([...facts, ['chunks', chunks.length], ['tokens', tokens]], allowance),
    ...chunks.map((chunk, index) => renderChunk(chunk, index, allowance)),
  ];
}

function renderChunk(chunk: Json, index: number, allowance: Allowance): Element {
  const text = textIn(chunk, 'text') ?? '';
  const tokens = numberIn(chunk, 'token_count') ?? 0;
  const heading = textIn(chunk, 'heading') ?? '';
  const shown = allowance.head(text);
  const isCut = shown.length < text.length;
  const source = isCut ? shown : allowance.head(shown);
  return element(
    'div',
    {class: 'chunk'},
    ['div', {class: 'page'}, isCut && shown === '' ? [leftOut(text.length)] : renderMarkdown(shown)],
    element(
      'div',
      {class: 'source'},
      element(
        'p',
        {class: 'chunk-facts'},
        element('b', {}, `Chunk ${index + 1}`),
        element('span', {class: 'tokens'}, `${tokens.toLocaleString('en')} tokens`),
        element('span', {class: 'heading'}, heading),
      ),
      element('pre', {class: 'wrap'}, source),
      ...(isCut ? [leftOut(text.length - shown.length)] : []),
    ),
  );
}
