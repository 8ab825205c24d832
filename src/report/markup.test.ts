import {expect, test} from 'vitest';
import {embedAsset, embedJson, escapeHtml, html} from './markup.ts';

test('policy: a text in HTML ends nothing and begins nothing', () => {
  const text = escapeHtml(`<img src=x onerror="a"> & 'b'`);
  expect(html`<p title="${text}">`).toBe(
    '<p title="&lt;img src=x onerror=&quot;a&quot;&gt; &amp; &#39;b&#39;">',
  );
});

test('policy: data cannot end its element, open a comment, or take two lines', () => {
  const value = {a: '</script><!--<script>\u2028\n'};
  const line = embedJson(value);
  expect(line).not.toMatch(/[<\n\u2028]/);
  expect(JSON.parse(line)).toEqual({a: '</script><!--<script>⟨U+2028⟩\n'});
});

test('ruling D12 what would not be seen in a page is shown as a sign', () => {
  const parsed = JSON.parse(
    embedJson({a: ['\u001b[31mred\u001b[0m\u0000\u001b]0;x\u0007', '\u202eabc\u{e0041}\r\n']}),
  );
  expect(parsed.a).toEqual(['red␀␛]0;x␇', '⟨U+202E⟩abc⟨U+E0041⟩\n']);
});

test('policy: an asset that would end its element is a bug', () => {
  expect(embedAsset('a < b / c')).toBe('a < b / c');
  expect(() => embedAsset("'</script>'")).toThrow('Expected an asset');
});
