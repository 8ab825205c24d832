// Patches as models break them: each is applied as it was meant, or refused. PATCHES=2000 makes so many of them.
import {execFileSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {needs} from '../../../test/support/parts.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {WritablePath} from '../workspace-path.ts';
import {overlayPatch} from './overlay.ts';
import {parsePatch, parsePatchInTurns} from './parse-patch.ts';
import {splitLines} from './patch.ts';
import {renderUnifiedDiff} from './unified.ts';

const COUNT = Number(process.env['PATCHES'] ?? 110);
const SOURCES = join(import.meta.dirname, '../..');
const PATH = 'lib/file.ts';

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Hunk {
  readonly start: number;
  readonly lines: readonly string[];
}

interface Edit {
  readonly before: string;
  readonly after: string;
  readonly diff: string;
  readonly hunks: readonly Hunk[];
}

/** A change of one to four places of a source file: lines changed, removed, repeated or added. */
function editOf(text: string, random: () => number): Edit | undefined {
  const lines = splitLines(text);
  const pick = (count: number): number => Math.floor(random() * count);
  for (let places = 1 + pick(4); places > 0; places -= 1) {
    const at = pick(lines.length);
    const line = lines[at] ?? '';
    const indent = /^\s*/.exec(line.trimEnd())?.[0] ?? '';
    const kind = pick(4);
    if (kind === 0) lines[at] = line.replace(/\w+/, 'changed');
    else if (kind === 1) lines.splice(at, 1 + pick(3));
    else if (kind === 2 || line.trim() === '') lines.splice(at, 0, `${indent}added(${pick(100)});\n`);
    else lines.splice(at, 1, `${indent}if (a) {\n`, `${indent}  ${line.trim()}\n`, `${indent}}\n`);
  }
  const after = lines.join('');
  const {diff} = renderUnifiedDiff(Buffer.from(text), Buffer.from(after), PATH);
  if (diff === '') return undefined;
  const hunks = diff
    .split(/^(?=@@ )/m)
    .slice(1)
    .map(one => {
      const [header = '', ...body] = one.trimEnd().split('\n');
      return {start: Number(/-(\d+)/.exec(header)?.[1]), lines: body};
    });
  return {before: text, after, diff, hunks};
}

const NAMES = `--- a/${PATH}\n+++ b/${PATH}\n`;
const counted = (lines: readonly string[], without: string): number =>
  lines.filter(line => !line.startsWith(without)).length;
const header = (start: number, lines: readonly string[], more = 0): string =>
  `@@ -${start},${counted(lines, '+') + more} +${start},${counted(lines, '-') + more} @@`;
const unified = (hunks: readonly Hunk[], shift: (index: number) => number = () => 0): string =>
  NAMES +
  hunks
    .map(({start, lines}, at) => [header(Math.max(1, start + shift(at)), lines), ...lines, ''].join('\n'))
    .join('');
const mapped = (hunks: readonly Hunk[], change: (line: string) => string): readonly Hunk[] =>
  hunks.map(({start, lines}) => ({start, lines: lines.map(change)}));
/** With so many lines of context at most. */
const narrowed = (hunks: readonly Hunk[], context: number): readonly Hunk[] =>
  hunks.map(({start, lines}) => {
    const first = Math.max(0, lines.findIndex(line => line[0] !== ' ') - context);
    const last = lines.findLastIndex(line => line[0] !== ' ') + context;
    return {start: start + first, lines: lines.slice(first, last + 1)};
  });
const codex = (hunks: readonly Hunk[], anchor: (hunk: Hunk) => string = () => ''): string =>
  `*** Begin Patch\n*** Update File: ${PATH}\n${hunks.map(hunk => `@@${anchor(hunk)}\n${hunk.lines.join('\n')}\n`).join('')}*** End Patch\n`;
const blocks = (hunks: readonly Hunk[], change: (line: string) => string = line => line): string =>
  hunks
    .map(({lines}) => {
      const side = (without: string): string =>
        lines
          .filter(line => !line.startsWith(without))
          .map(line => `${change(line.slice(1))}\n`)
          .join('');
      return `${PATH}\n<<<<<<< SEARCH\n${side('+')}=======\n${side('-')}>>>>>>> REPLACE\n\n`;
    })
    .join('');
const tabbed = (line: string): string => line.replace(/^( *)/, blanks => '\t'.repeat(blanks.length / 2));
const marked =
  (change: (text: string) => string) =>
  (line: string): string =>
    line.slice(0, 1) + change(line.slice(1));

const SLIPS: Readonly<Record<string, (edit: Edit) => string>> = {
  none: ({diff}) => diff,
  'wrong counts': ({hunks}) =>
    NAMES + hunks.map(({start, lines}) => [header(start, lines, 2), ...lines, ''].join('\n')).join(''),
  'the first hunk off by two': ({hunks}) => unified(hunks, at => (at === 0 ? 2 : 0)),
  'all hunks off by three': ({hunks}) => unified(hunks, () => 3),
  'each hunk further off': ({hunks}) => unified(hunks, at => -at - 1),
  'no numbers': ({hunks}) => NAMES + hunks.map(({lines}) => `@@\n${lines.join('\n')}\n`).join(''),
  'no prefix': ({hunks}) => unified(hunks).replace('--- a/', '--- ').replace('+++ b/', '+++ '),
  'blank context lines empty': ({hunks}) => unified(mapped(hunks, line => (line === ' ' ? '' : line))),
  'context without its blank': ({hunks}) => unified(mapped(hunks, line => line.replace(/^ (?=\S)/, ''))),
  'one line of context': ({hunks}) => unified(narrowed(hunks, 1)),
  'one line of context, off by one': ({hunks}) => unified(narrowed(hunks, 1), () => 1),
  'a fence and prose': ({diff}) => `The change:\n\n\`\`\`diff\n${diff}\`\`\`\nThat is all.\n`,
  'CRLF of the way': ({diff}) => diff.replaceAll('\n', '\r\n'),
  Codex: ({hunks}) => codex(hunks),
  'Codex, one line of context': ({hunks}) => codex(narrowed(hunks, 1)),
  'Codex, no context, below a line': ({before, hunks}) => {
    const lines = before.split('\n');
    return codex(narrowed(hunks, 0), ({start}) => {
      const above = lines.slice(0, Math.max(0, start - 1)).findLast(line => /^\S.*[({]$/.test(line));
      return above === undefined ? '' : ` ${above}`;
    });
  },
  'Codex, tabs for spaces': ({hunks}) => codex(mapped(hunks, marked(tabbed))),
  'Codex, blanks at line ends': ({hunks}) =>
    codex(mapped(hunks, line => (line.startsWith('+') ? line : `${line}  `))),
  'Codex, typographic quotes in context': ({hunks}) =>
    codex(mapped(hunks, line => (line.startsWith('+') ? line : line.replaceAll("'", '\u2019')))),
  'SEARCH/REPLACE': ({hunks}) => blocks(hunks),
  'SEARCH/REPLACE, one line of context': ({hunks}) => blocks(narrowed(hunks, 1)),
  'SEARCH/REPLACE, without indentation': ({hunks}) =>
    hunks
      .map(hunk => {
        const texts = hunk.lines.map(line => line.slice(1)).filter(text => text.trim() !== '');
        const common = Math.min(...texts.map(text => text.search(/\S/)));
        return blocks([hunk], line => line.slice(Math.min(common, Math.max(0, line.search(/\S/)))));
      })
      .join(''),
};

/** The content afterwards; undefined where it is refused. */
async function applied(patch: string, before: string): Promise<string | undefined> {
  const strict = parsePatch(patch);
  const parsed = strict.ok ? strict : await parsePatchInTurns(patch, undefined, {asMeant: true});
  if (!parsed.ok) return undefined;
  const tree = {
    resolve: (path: string) => ({ok: true, value: path as WritablePath}) as const,
    read: async (path: string) =>
      ({ok: true, value: path === PATH ? stateOf(Buffer.from(before), 0o644) : undefined}) as const,
    blockingFile: () => undefined,
  };
  const done = await overlayPatch(tree, parsed.value.sections);
  if (!done.ok) return undefined;
  const [change] = done.value.changes;
  return change?.new === undefined ? before : Buffer.from(change.new.bytes).toString();
}

function edits(): readonly Edit[] {
  const random = numbers(7);
  const texts = readdirSync(SOURCES, {recursive: true, encoding: 'utf8'})
    .filter(path => path.endsWith('.ts'))
    .sort()
    .map(path => readFileSync(join(SOURCES, path), 'utf8'))
    .filter(text => text.length > 2000 && text.length < 40_000 && text.endsWith('\n'));
  const made: Edit[] = [];
  while (made.length < COUNT) {
    const edit = editOf(texts[Math.floor(random() * texts.length)] ?? '', random);
    if (edit !== undefined) made.push(edit);
  }
  return made;
}

test('W22: of patches broken in the ways of models four in five do what was meant, and none anything else', async () => {
  const slips = Object.entries(SLIPS);
  const outcomes = new Map(slips.map(([name]) => [name, {meant: 0, refused: 0, wrong: 0}]));
  const wrong: string[] = [];
  for (const [at, edit] of edits().entries()) {
    const [name, slip] = slips[at % slips.length] ?? ['', ({diff}: Edit) => diff];
    const patch = slip(edit);
    const result = await applied(patch, edit.before);
    const outcome = result === undefined ? 'refused' : result === edit.after ? 'meant' : 'wrong';
    const counts = outcomes.get(name);
    if (counts !== undefined) counts[outcome] += 1;
    if (outcome === 'wrong') wrong.push(`${name}\n${patch}`);
  }
  if (process.env['PATCHES'] !== undefined)
    process.stdout.write(`${JSON.stringify([...outcomes], undefined, 1)}\n`);
  expect(wrong).toEqual([]);
  const meant = [...outcomes.values()].reduce((sum, one) => sum + one.meant, 0);
  expect(meant / COUNT).toBeGreaterThanOrEqual(0.8);
});

test('W22: git applies what was meant before it was broken', needs('git'), () => {
  const root = temporaryDirectory();
  const all = edits().slice(0, 100);
  const named = (at: number): string => `${at}/${PATH}`;
  for (const [at, {before}] of all.entries()) {
    mkdirSync(dirname(join(root, named(at))), {recursive: true});
    writeFileSync(join(root, named(at)), before);
  }
  const patch = all
    .map(({diff}, at) =>
      diff.replaceAll(`a/${PATH}`, `a/${named(at)}`).replaceAll(`b/${PATH}`, `b/${named(at)}`),
    )
    .join('');
  execFileSync('git', ['apply', '-'], {cwd: root, input: patch});
  const after = all.map((_, at) => readFileSync(join(root, named(at)), 'utf8'));
  expect(after).toEqual(all.map(edit => edit.after));
});
