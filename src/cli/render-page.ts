// Renders a fetched page for a terminal or a pipe, and its outline.
import type {FetchResponse} from '../index.ts';
import {type Console, printable, styled} from './console.ts';
import {groupDigits, wrapMarkdown} from './text-layout.ts';
import type {Outline, OutlineSection, ReadPage} from './toolbox-services.ts';

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

const OWN = 'own';
const ALL = 'with below';
const INDENT = '  ';

interface Row {
  readonly own: string;
  /** Empty where nothing is below. */
  readonly all: string;
  readonly heading: string;
}

/** The heading tree of a page, tokens to the left of each heading, the whole at the bottom. */
export function renderOutline({response}: ReadPage, outline: Outline, console: Console): string {
  const rows = rowsOf(outline.sections, 0);
  const total = groupDigits(outline.total_tokens);
  const ownWidth = Math.max(OWN.length, ...rows.map(({own}) => own.length));
  const allWidth = Math.max(ALL.length, total.length, ...rows.map(({all}) => all.length));
  const line = (own: string, all: string, text: string): string =>
    `${own.padStart(ownWidth)}  ${all.padStart(allWidth)}  ${text}`;
  return [
    styled(console, 'bold', oneLine(response.title ?? '(no title)')),
    styled(console, 'cyan', oneLine(response.final_url)),
    '',
    styled(console, 'dim', line(OWN, ALL, 'tokens')),
    ...rows.map(({own, all, heading}) => line(own, all, heading)),
    styled(console, 'bold', line('', total, 'the whole page')),
    '',
  ].join('\n');
}

function rowsOf(sections: readonly OutlineSection[], depth: number): readonly Row[] {
  return sections.flatMap(({heading, tokens, tokens_with_subsections, level, sections: below}) => [
    {
      own: groupDigits(tokens),
      all: below.length === 0 ? '' : groupDigits(tokens_with_subsections),
      heading: INDENT.repeat(depth) + (level === 0 ? '(before the first heading)' : oneLine(heading)),
    },
    ...rowsOf(below, depth + 1),
  ]);
}

function oneLine(text: string): string {
  return printable(text).replace(/[\n\t]+/g, ' ');
}

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
