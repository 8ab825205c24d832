import {expect, test} from 'vitest';
import {extractHtml} from './extract-html.ts';

const extract = (html: string) => extractHtml(html, {baseUrl: 'https://example.com/', honorBaseHref: false});

test.each([
  ['<h1>first</h1><h1>second</h1>', 'first'],
  ['<h1></h1><h1>first with text</h1><h1>another</h1>', 'first with text'],
  ['<h2>before</h2><main><h1>first</h1></main><h1>second</h1>', 'first'],
  ['<h1>first</h1><h1>second</h1><title> </title>', 'first'],
  ['<h1>heading</h1><svg><title>icon</title></svg><title>real</title>', 'real'],
  ['<title>one</title><title>two</title><h1>heading</h1>', 'one'],
])('FR-WF-13e the title of %s is %s', (html, title) => {
  expect(extract(html).title).toBe(title);
});

test.each(['de-CH-1996', 'EN-us', 'zh-Hant-TW', 'x-klingon', 'not a tag', 'i'])(
  'FR-WF-13f the language %j is passed on as it is',
  lang => {
    expect(extract(`<html lang="${lang}"><p lang="fr">text`).language).toBe(lang);
  },
);

test.each(['<html lang="">', '<html lang=" ">', '<html>', '<html xml:lang="de">'])(
  'FR-WF-13f %s has no language',
  start => {
    expect(extract(`${start}<p lang="fr">text`)).not.toHaveProperty('language');
  },
);
