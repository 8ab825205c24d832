import {Allowance} from '../call/allowance.ts';
import {renderDiff} from '../call/render-diff.ts';
import {leftOut} from '../call/render-value.ts';
import {type Element, element, embedJson, type SafeHtml} from '../markup.ts';
import type {NetChange, NetChanges} from './net-changes.ts';

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
