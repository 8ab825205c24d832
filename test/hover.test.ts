// Editors show something for everything that the package exports: for each type and its fields, and for each setting.
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path/posix';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {linesWithId, withoutIds, withSettingsHover} from '../scripts/settings-hover.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Exported {
  readonly name: string;
  readonly file: string;
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** What a file hands on of other files. */
function handedOn(file: string): readonly Exported[] {
  return [...read(file).matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(([, names, from]) =>
    (names ?? '')
      .split(',')
      .map(name => name.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map(name => ({name, file: join(file, '..', from ?? '')})),
  );
}

/** Where it is declared, behind files that hand it on. */
function declared({name, file}: Exported): Exported {
  const next = handedOn(file).find(one => one.name === name);
  return next === undefined ? {name, file} : declared(next);
}

interface Hover {
  readonly of: string;
  /** As an editor shows it; empty where there is none. */
  readonly text: string;
}

/** The comment that ends where `before` ends. */
function commentAtEnd(before: string): string {
  const trimmed = before.trimEnd();
  if (!trimmed.endsWith('*/')) return '';
  return withoutIds(trimmed.slice(trimmed.lastIndexOf('/**')))
    .replace(/^\s*\/?\*+\/?|\*\/$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What the type and each of its fields show. */
function hovers({name, file}: Exported): readonly Hover[] {
  const text = read(file);
  const start = text.search(
    new RegExp(`^export (?:interface|type|class|(?:async )?function|const) ${name}\\b`, 'm'),
  );
  if (start === -1) return text.includes(`export {${name}}`) ? [] : [{of: `${name}, not found`, text: ''}];
  const body =
    /^export (?:interface|type|class) [^{=]*(?:= )?\{\n([\s\S]*?)\n\}/.exec(text.slice(start))?.[1] ?? '';
  const lines = body.split('\n');
  // A method of a class shows the comment of the interface that it implements.
  const isField = text.startsWith('export class', start)
    ? /^ {2}readonly (\w+)/
    : /^ {2}(?:readonly )?(?:\[)?(\w+)\??[(:\]]/;
  const fields = lines.flatMap((line, at) => {
    const field = isField.exec(line)?.[1];
    const before = lines.slice(0, at).join('\n');
    return field === undefined ? [] : [{of: `${name}.${field}`, text: commentAtEnd(before)}];
  });
  return [{of: name, text: commentAtEnd(text.slice(0, start))}, ...fields];
}

test('policy: every export and each of its fields shows plain sentences', () => {
  const exported = [...handedOn('src/index.ts'), ...handedOn('src/mcp.ts')].map(declared);
  expect(exported.length).toBeGreaterThan(40);
  const wrong = exported.flatMap(hovers).filter(({text}) => {
    const sentences = text.replace(' @internal', '').split(/(?<=[.:;?]) /);
    // A name of a file of ours helps nobody who has the package.
    const isPlain = /^[A-Z`].*\.$/.test(text.replace(' @internal', '')) && !/\.ts\b/.test(text);
    return !isPlain || sentences.some(sentence => sentence.split(' ').length > 30);
  });
  expect(wrong).toEqual([]);
});

test('policy: a setting shows its sentence', () => {
  const declaration = [
    'export declare const section: {',
    "    readonly kind: 'section';",
    "    readonly doc: 'All of it.';",
    '    readonly entries: {',
    '        readonly limit: {',
    "            readonly kind: 'integer';",
    "            readonly doc: 'Not the model\\'s, */ but yours.';",
    '        };',
    '        readonly other: {',
    '            readonly doc: "Another.";',
    '        };',
    '    };',
    '};',
  ];
  expect(withSettingsHover(declaration.join('\n')).split('\n')).toEqual([
    ...declaration.slice(0, 4),
    "        /** Not the model's, *\\/ but yours. */",
    ...declaration.slice(4, 8),
    '        /** Another. */',
    ...declaration.slice(8),
  ]);
});

test.each([
  ['/** FR-WF-01: a URL becomes Markdown. */', '/** A URL becomes Markdown. */'],
  ['/** Ruling H2, SRD 3.1: text (order as in ruling A1). */', '/** Text. */'],
  ['/**\n * T1: adds (a, W12) lines. (FR-WF-08c)\n */', '/**\n * Adds (a) lines.\n */'],
  ['  /** FR-WF-10b */\n  x;', '  x;'],
])('policy: a comment of the package has no id: %j', (comment, plain) => {
  expect(withoutIds(comment)).toBe(plain);
});

test('policy: no declaration of dist/ names a requirement', () => {
  const files = readdirSync(join(ROOT, 'dist'), {recursive: true, encoding: 'utf8'});
  const declarations = files.filter(name => name.endsWith('.d.ts'));
  expect(declarations.length).toBeGreaterThan(30);
  const found = declarations.flatMap(name =>
    linesWithId(read(join('dist', name))).map(line => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
