import {toUrl} from '../../../core/text/to-url.ts';
import type {ExtractedDocument} from '../../page.ts';
import {extractHtml} from '../extract-html.ts';
import {visibleText} from '../tree/visible-text.ts';
import {type FeedItem, type FeedText, readFeed} from './read-feed.ts';
import {shiftHeadings} from './shift-headings.ts';

/** Headings of an entry's text stand below the heading of the entry. */
const DEEPER = 2;
const LONGEST_LANGUAGE = 100;

/** Ruling R3: RSS or Atom as Markdown, every entry a section. Throws `ConversionProblem`. */
export function extractFeed(source: string, baseUrl: string): ExtractedDocument {
  const feed = readFeed(source);
  const title = feed.title === undefined ? '' : plain(feed.title, baseUrl);
  const parts = [itemMarkdown(feed, 1, baseUrl), ...feed.entries.map(one => itemMarkdown(one, 2, baseUrl))];
  const markdown = parts.filter(part => part !== '').join('\n\n');
  const {language = ''} = feed;
  return {
    markdown: markdown === '' ? '' : `${markdown}\n`,
    ...(title !== '' && {title}),
    ...(language !== '' && language.length <= LONGEST_LANGUAGE && {language: visibleText(language)}),
  };
}

function itemMarkdown(item: FeedItem, level: 1 | 2, baseUrl: string): string {
  const {title, link, updated, author, summary, content} = item;
  const address = link === undefined ? undefined : absolute(link, baseUrl);
  const name = title === undefined ? '' : plain(title, baseUrl);
  const about = [address, updated, author].filter(part => part !== undefined).map(escapeHtml);
  const head = extractHtml(
    `<h${level}>${escapeHtml(name === '' && level === 2 ? '(no title)' : name)}</h${level}><p>${about.join(' · ')}</p>`,
    {baseUrl, honorBaseHref: false},
  );
  const text = content ?? summary;
  const body =
    text === undefined
      ? ''
      : shiftHeadings(htmlOf(text, address ?? baseUrl).trim(), level === 1 ? 1 : DEEPER);
  return [head.markdown.trim(), body].filter(part => part !== '').join('\n\n');
}

function htmlOf({text, isHtml}: FeedText, baseUrl: string): string {
  const html = isHtml ? text : `<p>${escapeHtml(text)}</p>`;
  return extractHtml(`<!DOCTYPE html><body>${html}`, {baseUrl, honorBaseHref: false}).markdown;
}

/** One line without markup. */
function plain({text, isHtml}: FeedText, baseUrl: string): string {
  const html = `<title>${isHtml ? text : escapeHtml(text)}</title>`;
  const title = extractHtml(html, {baseUrl, honorBaseHref: false}).title ?? '';
  return isHtml ? title.replace(/<[^<>]*>/g, '').trim() : title;
}

function absolute(link: string, baseUrl: string): string | undefined {
  const url = toUrl(link, baseUrl);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
