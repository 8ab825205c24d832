// Editors show something for everything that the package exports: for each type and its fields, and for each setting.
import {readFileSync} from 'node:fs';
import {join} from 'node:path/posix';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {withSettingsHover} from '../scripts/settings-hover.js';

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

/** The type and its fields that have no comment right above them. */
function withoutComment({name, file}: Exported): readonly string[] {
  const text = read(file);
  const start = text.search(
    new RegExp(`^export (?:interface|type|class|(?:async )?function|const) ${name}\\b`, 'm'),
  );
  if (start === -1) return text.includes(`export {${name}}`) ? [] : [`${file}: ${name} is not found`];
  const missing = text.slice(0, start).trimEnd().endsWith('*/') ? [] : [`${file}: ${name}`];
  const body =
    /^export (?:interface|type) [^{=]*(?:= )?\{\n([\s\S]*?)\n\}/.exec(text.slice(start))?.[1] ?? '';
  const lines = body.split('\n');
  const fields = lines.flatMap((line, at) => {
    const field = /^ {2}(?:readonly )?(?:\[)?(\w+)\??[(:\]]/.exec(line)?.[1];
    return field === undefined || lines[at - 1]?.trimEnd().endsWith('*/')
      ? []
      : [`${file}: ${name}.${field}`];
  });
  return [...missing, ...fields];
}

test('policy: every exported type and each of its fields has a comment', () => {
  const all = [...handedOn('src/index.ts'), ...handedOn('src/mcp.ts')].map(declared);
  expect(all.length).toBeGreaterThan(40);
  expect(all.flatMap(withoutComment)).toEqual([]);
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
