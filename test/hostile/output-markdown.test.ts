import {describe, expect, test} from 'vitest';
import {chunkMarkdown} from '../../src/web/chunk/chunk-markdown.ts';
import {extractHtml} from '../../src/web/extract/extract-html.ts';
import {countTokens} from '../../src/web/tokens/count-tokens.ts';
import {CONTEXTS, HOSTILE_TARGETS, MARKDOWN_PAYLOADS} from './support/output-payloads.ts';
import {render} from './support/output-structure.ts';

const OPTIONS = {baseUrl: 'http://good.example/page', honorBaseHref: false};
const INNOCENT = 'innocent';
/** D7 names these four; every other scheme leads somewhere, and stays. */
const UNWANTED = /^\s*(?:javascript|vbscript|data|blob):/i;

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
const put = (context: string, text: string): string => context.replaceAll('{}', () => escapeHtml(text));
const markdownOf = (html: string): string => extractHtml(html, OPTIONS).markdown;
const isAttribute = (context: string): boolean => /="[^"]*\{\}/.test(context) && !/alt="\{\}/.test(context);

/** Nodes, with what belongs to the payload itself taken out: a code block's language and a link's target. */
const shapeOf = (nodes: readonly string[]): readonly string[] =>
  nodes.map(node => node.replace(/^(code block).*/, '$1').replace(/^(link|image) .*/, '$1'));

describe('ruling D7 text of a page is text to whoever renders the Markdown', () => {
  test.each(Object.entries(CONTEXTS))(
    'ruling D7 %s: no payload changes the structure, and all of it is there',
    (_, context) => {
      const plain = render(markdownOf(put(context, INNOCENT)));
      for (const payload of MARKDOWN_PAYLOADS) {
        const markdown = markdownOf(put(context, payload));
        const rendered = render(markdown);
        const seen = {payload, markdown, html: rendered.html, shape: shapeOf(rendered.nodes)};
        if (isAttribute(context)) {
          expect({...seen, html: rendered.html, text: rendered.text}).toEqual({
            ...seen,
            html: [],
            text: plain.text,
          });
          expect(shapeOf(rendered.nodes).length, payload).toBeLessThanOrEqual(plain.nodes.length);
          for (const target of rendered.targets) expect(target, payload).not.toMatch(UNWANTED);
          continue;
        }
        expect(seen).toEqual({...seen, html: [], shape: shapeOf(plain.nodes)});
        expect({payload, markdown, text: rendered.text}).toEqual({
          payload,
          markdown,
          text: plain.text.replaceAll(INNOCENT, () => payload.replace(/\s+/g, '')),
        });
      }
    },
  );

  test('ruling D7 the payloads do change the structure where nobody escapes them: positive control', () => {
    const changed = MARKDOWN_PAYLOADS.filter(payload => {
      const {nodes, html, text} = render(`x\n\n${payload}\n`);
      return (
        nodes.join() !== 'paragraph,paragraph' ||
        html.length > 0 ||
        text !== `x${payload.replace(/\s+/g, '')}`
      );
    });
    expect(changed.length).toBeGreaterThan(110);
  });
});

describe('ruling D7 targets', () => {
  test.each(HOSTILE_TARGETS)('ruling D7 %j loses its link and keeps its text', target => {
    // As the browser reads the attribute: entities in it are resolved.
    const attribute = target.replaceAll('"', '&quot;');
    for (const html of [
      `<p><a href="${attribute}">text</a></p>`,
      `<p><img src="${attribute}" alt="text"></p>`,
      `<table><tr><th>h</th></tr><tr><td><a href="${attribute}">text</a></td></tr></table>`,
    ]) {
      const markdown = markdownOf(html);
      const {targets, text, html: raw} = render(markdown);
      expect({markdown, raw, text}).toEqual({markdown, raw: [], text: expect.stringContaining('text')});
      expect(targets.filter(found => !found.startsWith('http://good.example/'))).toEqual([]);
      expect(markdown).not.toMatch(/\]\(\s*<?(?:java\s*script|vb\s*script|data|blob):/i);
    }
  });

  test('ruling D10 <base> with a hostile scheme changes nothing, honoured or not', () => {
    for (const base of HOSTILE_TARGETS) {
      const html = `<base href="${base}"><p><a href="x">text</a></p>`;
      for (const honorBaseHref of [true, false]) {
        const {targets} = render(extractHtml(html, {...OPTIONS, honorBaseHref}).markdown);
        for (const target of targets) expect(target).toMatch(/^http:\/\/good\.example\//);
      }
    }
  });
});

describe('the same on the way to the chunks', () => {
  test('FR-WF-15 no payload makes a heading of a chunk that the page does not have', () => {
    const body = MARKDOWN_PAYLOADS.map(payload =>
      put('<p>{}</p><ul><li>{}</li></ul><blockquote>{}</blockquote><pre>{}</pre>', payload),
    ).join('');
    const markdown = markdownOf(`<h1>Only</h1>${body}`);
    const chunks = chunkMarkdown(markdown, 128, countTokens);
    expect(new Set(chunks.map(({heading}) => heading))).toEqual(new Set(['Only']));
    expect(chunks.length).toBeGreaterThan(10);
  });

  test('NFR-WF-SEC-03 all payloads on one page: no raw HTML, no link, one heading', () => {
    const body = MARKDOWN_PAYLOADS.map(payload => put('<p>{}</p><p>a {} b</p>', payload)).join('');
    const {html, targets, nodes} = render(markdownOf(`<h1>Only</h1>${body}`));
    expect(html).toEqual([]);
    expect(targets).toEqual([]);
    expect(new Set(nodes)).toEqual(new Set(['heading 1', 'paragraph']));
  });
});
