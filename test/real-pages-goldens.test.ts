import {createHash} from 'node:crypto';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {extractHtml} from '../src/web/extract/extract-html.ts';

/** Pages of other people, which are no part of this project: they lie beside the checkout on some machines. */
const PAGES = join(import.meta.dirname, '../../shared/data/pages');
/** Of each page the SHA-256 of its Markdown in each mode; `bench/reader/pages-read.md` says what they lose or keep wrongly. */
const HASHES = join(import.meta.dirname, 'fixtures/real-pages.json');
const MODES = ['srd', 'reader'] as const;

type Hashes = Readonly<Record<string, Readonly<Record<(typeof MODES)[number], string>>>>;

const known = JSON.parse(readFileSync(HASHES, 'utf8')) as Hashes;

function hashOf(name: string, mode: (typeof MODES)[number]): string {
  const html = readFileSync(join(PAGES, name), 'utf8');
  const {markdown} = extractHtml(html, {baseUrl: 'https://golden.example/page', honorBaseHref: true, mode});
  return createHash('sha256').update(markdown).digest('hex');
}

// T-WF-INFRA-06: `UPDATE_GOLDENS=1` writes what is then to be reviewed.
test.each(MODES)(
  'R2 each real page at hand gives the bytes in mode %s that were read and accepted',
  {
    tags: 'slow',
  },
  mode => {
    const names = Object.keys(known).filter(name => existsSync(join(PAGES, name)));
    const found = Object.fromEntries(names.map(name => [name, hashOf(name, mode)]));
    if (process.env['UPDATE_GOLDENS'] === '1') {
      const all = names.map(name => [name, Object.fromEntries(MODES.map(one => [one, hashOf(name, one)]))]);
      writeFileSync(HASHES, `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
    }
    expect(found).toEqual(Object.fromEntries(names.map(name => [name, known[name]?.[mode]])));
  },
);
