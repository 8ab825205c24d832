import {expect, test} from 'vitest';
import {hasSpaIndicators} from './spa-indicators.ts';

test.each([
  '<script type="module">',
  '<SCRIPT TYPE="Module">',
  '<div id="__next">',
  '<div ID="App">',
  '<div class="x" id="root">',
  'window.__NUXT__={}',
  'WINDOW.__initial_state__ = 1',
  '<div id=app>',
  '<div id=root></div><script type=module src=/x.js></script>',
  '<div id=__next class=x>',
  '<main id=root/>',
  "<div id='root'>",
  '<script type=module>',
])('FR-WF-12c.2 %s', html => {
  expect(hasSpaIndicators(`<html><body>${html}</body>`)).toBe(true);
});

test.each([
  '<div id=apple>',
  '<div id=root-2>',
  '<div id="apple">',
  `<div id='root">`,
  '<script type="module" src="x">',
  'window.__NUXT',
  '',
])('FR-WF-12c.2 %s is none: the comparison is literal', html => {
  expect(hasSpaIndicators(html)).toBe(false);
});

test('FR-WF-12c.2 takes linear time', () => {
  const start = performance.now();
  expect(hasSpaIndicators('<script type="id="window.__'.repeat(200_000))).toBe(false);
  expect(performance.now() - start).toBeLessThan(1000);
});
