import {readFileSync, statSync} from 'node:fs';
import {expect, test} from 'vitest';
import {renderTerminal} from '../scripts/render-terminal.js';
import {reportSource} from '../scripts/report-source.js';

const STALE = 'is out of date: run `npm run pictures` and commit the result';

function picture(name: string): string {
  return readFileSync(new URL(`../docs/pictures/${name}`, import.meta.url), 'utf8');
}

test('policy: the picture of the demo is what was recorded, and nothing in it runs or loads', () => {
  const svg = picture('demo.svg');
  expect(svg, `demo.svg ${STALE}`).toBe(renderTerminal(picture('demo.txt'), 'forge-tools demo'));
  expect(svg).not.toMatch(/<script|<foreignObject|href|url\(|@import| on\w+=/i);
});

test('policy: the picture of the report shows the page that is made today', async () => {
  expect(picture('report.sha256').trim(), `report.png ${STALE}`).toBe(
    await reportSource(picture('demo.txt')),
  );
  const png = new URL('../docs/pictures/report.png', import.meta.url);
  expect(readFileSync(png).subarray(1, 4).toString()).toBe('PNG');
  expect(statSync(png).size).toBeLessThan(300_000);
});

test('policy: a terminal is drawn as text, colours and all, in lines that fit', () => {
  const svg = renderTerminal(`\u001b[1m1. <a> & "b"\u001b[22m\n${'x'.repeat(100)}\n\n2. more\n`, 'title');
  expect(svg).toContain('<tspan class="b">1. &lt;a&gt; &amp; &quot;b&quot;</tspan>');
  expect(svg).toContain(`>${'x'.repeat(92)}</text>`);
  expect(svg).toContain(`>${'x'.repeat(8)}</text>`);
  expect(svg.match(/@keyframes play\{/g)).toHaveLength(1);
});
