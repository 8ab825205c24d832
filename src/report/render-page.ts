// Puts the page together: frame, style, script, policy and data.
import {createHash} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {packageFile} from '../core/package-file.ts';
import {Allowance} from './artifacts.ts';
import {
  type Element,
  element,
  embedAsset,
  embedJson,
  escapeHtml,
  html,
  joinHtml,
  type SafeHtml,
  scriptElement,
} from './markup.ts';
import type {NetChange, NetChanges} from './net-changes.ts';
import {leftOut, renderDiff} from './render-values.ts';

/** What stands above the calls. */
export interface PageHead {
  readonly name: string;
  readonly path: string;
  readonly state: 'running' | 'ended' | 'cut off';
  readonly verdict: {readonly state: 'intact' | 'torn' | 'tampered'; readonly text: string};
  /** What a reader has to know about the page itself. */
  readonly notes: readonly string[];
}

interface PageAssets {
  readonly script: SafeHtml;
  readonly style: SafeHtml;
}

/** The parts of the one script, in their order: each knows those before it. */
const SCRIPTS = ['build', 'timeline', 'zoom', 'rows', 'colors', 'head', 'search', 'keys', 'start'];

/** Reads the files of this package that stand in every page. */
export async function loadAssets(): Promise<PageAssets> {
  const read = (name: string): Promise<string> => readFile(packageFile(`assets/report/${name}`), 'utf8');
  const style = await read('report.css');
  const scripts = await Promise.all(SCRIPTS.map(name => read(`${name}.js`)));
  return {script: embedAsset(["'use strict';", ...scripts].join('\n')), style: embedAsset(style)};
}

/**
 * Nothing is loaded, nothing is sent, no form, no frame, no plugin; of scripts and styles exactly ours. Trusted
 * types: no script, ours included, makes elements of a string. A live page asks its own server alone.
 */
export function contentSecurityPolicy({script, style}: PageAssets, live: boolean): string {
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    ...(live ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** The page: a frame of ours, and behind it the data that `assets/report/` shows in it. */
export function renderPage(
  head: PageHead,
  lines: readonly SafeHtml[],
  assets: PageAssets,
  live: boolean,
): SafeHtml {
  const {script, style} = assets;
  const policy = escapeHtml(contentSecurityPolicy(assets, live));
  const title = escapeHtml(`Run ${head.name}`);
  const data = embedData([embedJson({head, live}), ...lines]);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#list">Skip to the calls</a>
<header>
<div class="top">
<h1 id="headline">${title}</h1>
<span class="tools">
<button id="theme" type="button">Theme: auto</button>
<button id="help" type="button" aria-haspopup="dialog">Keys <kbd>?</kbd></button>
</span>
</div>
<p id="refusals" hidden></p>
<p id="where"></p>
<p id="verdict"></p>
<dl id="totals"></dl>
<div id="notes"></div>
</header>
<section id="net" aria-label="Changed files" hidden>
<h2 id="net-title">Changed files</h2>
<div id="net-body"></div>
</section>
<nav aria-label="Search and filters">
<input id="search" type="search" placeholder="Search in calls ( / )" aria-label="Search in calls" autocomplete="off" spellcheck="false">
<select id="tool" aria-label="Tool"></select>
<span id="states" role="group" aria-label="States"></span>
<label><input id="pauses" type="checkbox"> cut pauses</label>
<label id="follow-label" hidden><input id="follow" type="checkbox"> follow</label>
<output id="count" aria-live="polite"></output>
</nav>
<main>
<div id="axis"><span id="zoom" role="group" aria-label="Timeline"><button id="zoom-in" type="button" aria-label="Zoom in">+</button><button id="zoom-out" type="button" aria-label="Zoom out">−</button><button id="zoom-all" type="button" hidden>Whole run</button></span><div class="track" aria-hidden="true"></div></div>
<ol id="list" role="list" aria-label="Calls" tabindex="-1"></ol>
<p id="nothing" hidden>No call fits the search and the filters. <button id="reset" type="button">Show all</button></p>
</main>
<footer><p id="legend"><span class="key run"></span> running <span class="key wait"></span> waiting for an answer. Texts of pages and commands are shown as text; addresses without their queries, secrets replaced.</p></footer>
<dialog id="keys" aria-labelledby="keys-title">
<h2 id="keys-title">Keys</h2>
<dl>
<dt><kbd>/</kbd></dt><dd>search</dd>
<dt><kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd></dt><dd>next, previous call</dd>
<dt><kbd>Enter</kbd></dt><dd>open or close the call</dd>
<dt><kbd>Esc</kbd></dt><dd>close the call, leave the search</dd>
<dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next, previous call that failed or was refused</dd>
<dt><kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd></dt><dd>timeline: in, out, the whole run (or drag over it)</dd>
<dt><kbd>h</kbd> <kbd>l</kbd></dt><dd>timeline: earlier, later</dd>
<dt><kbd>z</kbd></dt><dd>timeline: the call that has the focus</dd>
<dt><kbd>c</kbd></dt><dd>copy a link to the call</dd>
<dt><kbd>t</kbd></dt><dd>theme</dd>
<dt><kbd>?</kbd></dt><dd>these keys</dd>
</dl>
<button id="keys-close" type="button">Close</button>
</dialog>
<noscript><p>This page shows its data with a script of its own. Allow scripts to read it; it loads nothing and sends nothing.</p></noscript>
${data}
${scriptElement(script)}
</body>
</html>
`;
}

/** A browser takes much longer for one element with all of it than for many. */
const ELEMENT_CHARACTERS = 262_144;

function embedData(lines: readonly SafeHtml[]): SafeHtml {
  const elements: SafeHtml[] = [];
  let waiting: SafeHtml[] = [];
  let characters = 0;
  const flush = (): void => {
    elements.push(scriptElement(joinHtml(waiting), ' class="data" type="application/json"'));
    waiting = [];
    characters = 0;
  };
  for (const line of lines) {
    waiting.push(line);
    characters += line.length;
    if (characters > ELEMENT_CHARACTERS) flush();
  }
  if (waiting.length > 0) flush();
  return joinHtml(elements);
}

/** Of all diffs together; each is shown with its call too. */
const MOST_CHARACTERS = 1_000_000;

/** The line of the page's data that holds the net change of the run; its script shows it above the calls. */
export function renderChangesLine({files, more}: NetChanges): SafeHtml {
  const allowance = new Allowance(MOST_CHARACTERS);
  const bodies = files.map(file => renderChange(file, allowance));
  const note = `${more.toLocaleString('en')} more files were changed. They are with the calls that changed them.`;
  const shown = [...bodies, ...(more > 0 ? [element('p', {class: 'note'}, note)] : [])];
  return embedJson({
    net: {
      files: files.length + more,
      added: files.reduce((sum, {diff}) => sum + (diff?.added ?? 0), 0),
      removed: files.reduce((sum, {diff}) => sum + (diff?.removed ?? 0), 0),
    },
    body: ['div', {class: 'changes'}, shown],
  });
}

function renderChange({path, kind, steps, diff}: NetChange, allowance: Allowance): Element {
  const calls = steps.length > 20 ? `${steps.length} calls` : `call ${steps.join(', ')}`;
  const head = element(
    'summary',
    {},
    element('code', {class: 'path'}, allowance.head(path, 500)),
    element('span', {class: 'plus'}, diff === undefined ? '' : `+${diff.added}`),
    element('span', {class: 'minus'}, diff === undefined ? '' : `−${diff.removed}`),
    element('span', {class: 'note'}, `${kind} by ${calls}`),
  );
  if (diff === undefined) {
    const why = 'It is not shown as one: the run does not hold both contents as text. Look at the calls.';
    return element('details', {}, head, element('p', {class: 'note'}, why));
  }
  const shown = allowance.head(diff.text);
  const cut = diff.text.length - shown.length;
  return element('details', {}, head, renderDiff(shown), ...(cut > 0 ? [leftOut(cut)] : []));
}
