import type {ExtraMedia} from '../page.ts';

const TYPES: readonly (readonly [media: ExtraMedia, types: string])[] = [
  ['json', 'application/json;q=0.7'],
  ['feed', 'application/atom+xml;q=0.7,application/rss+xml;q=0.7'],
  ['pdf', 'application/pdf;q=0.7'],
];

/** Ruling R3: Markdown is asked for first, then HTML and plain text, then what else is read. */
export function acceptHeader(accepts: ReadonlySet<ExtraMedia>): string {
  const others = TYPES.filter(([media]) => accepts.has(media)).map(([, types]) => types);
  return [
    ...(accepts.has('markdown') ? ['text/markdown'] : []),
    'text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8',
    ...others,
    '*/*;q=0.1',
  ].join(',');
}
