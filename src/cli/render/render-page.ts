import type {FetchResponse} from '../../index.ts';
import {type Console, styled} from '../console.ts';
import {printable} from '../terminal/printable.ts';
import {wrapMarkdown} from '../terminal/wrap-markdown.ts';

/** A fetched page for a person at a terminal: title, source, then each chunk under a rule with its tokens. */
export function renderForTerminal(response: FetchResponse, console: Console): string {
  const total = response.chunks.reduce((sum, chunk) => sum + chunk.token_count, 0);
  const facts = [
    `${response.chunks.length} ${response.chunks.length === 1 ? 'chunk' : 'chunks'}`,
    `${total} tokens`,
    response.rendering_method,
    `fetched ${response.fetched_at}`,
    ...response.notes,
  ];
  const head = [
    styled(console, 'bold', response.title ?? '(no title)'),
    styled(console, 'cyan', response.final_url),
    styled(console, 'dim', facts.join(' · ')),
  ];
  const body = response.chunks.map((chunk, index) => {
    const label = `─── ${index + 1}/${response.chunks.length} · ${chunk.token_count} tokens${chunk.heading ? ` · ${chunk.heading}` : ''} `;
    const width = Math.min(console.columns, 100);
    const rule = [...printable(label)].slice(0, width).join('').padEnd(width, '─');
    return `\n${styled(console, 'dim', rule)}\n${notARule(wrapMarkdown(printable(chunk.text), width))}`;
  });
  return `${[...head, ...body].join('\n')}\n`;
}

/** A line of the page's own that starts like our rules is moved in by a blank, so that no chunk can fake the next. */
function notARule(text: string): string {
  return text.replace(/^─/gm, ' ─');
}

/** For a pipe: the document and nothing else (review B3: not its chunks, whose ends may lie inside of a block). */
export function renderPlain(markdown: string): string {
  return markdown === '' || markdown.endsWith('\n') ? markdown : `${markdown}\n`;
}
