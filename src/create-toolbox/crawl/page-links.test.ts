import {expect, test} from 'vitest';
import {pageLinks} from './page-links.ts';

const FROM = {url: 'https://www.example.com/', host: 'www.example.com', depth: 2};
const PAGE = `# Links
[a](https://www.example.com/a) and [b *bold*](https://www.example.com/b#part "Title"), <https://www.example.com/c>
![picture](https://www.example.com/p.png) [![badge](https://www.example.com/q.png)](https://www.example.com/d)
[other](https://blog.example.com/e) [far](https://example.org/f) [mail](mailto:me@example.com) [self](https://www.example.com/)
[again](https://www.example.com/a) [secret](https://me:pw@www.example.com/s) [esc](https://www.example.com/x\\_y)`;

test('S1 the links of a page within its host, each once, without fragments, pictures and credentials', async () => {
  const links = await pageLinks(PAGE, FROM, false);
  expect(links.map(({url}) => new URL(url).pathname)).toEqual(['/a', '/b', '/d', '/x_y', '/c']);
  expect(links.every(({depth, host}) => depth === 3 && host === 'www.example.com')).toBe(true);
});

test('S1 within its site, other hosts of the same registered domain are meant too', async () => {
  const hosts = new Set((await pageLinks(PAGE, FROM, true)).map(({host}) => host));
  expect([...hosts].sort()).toEqual(['blog.example.com', 'www.example.com']);
  const from = {url: 'https://a.github.io/', host: 'a.github.io', depth: 0};
  expect(await pageLinks('[x](https://b.github.io/)', from, true)).toEqual([]);
});

test('S1 a page of nothing but links gives a number of them', async () => {
  const page = Array.from({length: 5000}, (_, at) => `[x](https://www.example.com/${at})`).join('\n');
  expect(await pageLinks(page, FROM, false)).toHaveLength(2000);
  expect(await pageLinks(']('.repeat(100_000), FROM, false)).toEqual([]);
  expect(await pageLinks('<https:'.repeat(50_000), FROM, false)).toEqual([]);
});
