// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code is quoted here
// Holds the import table, the confinement of powers and the file rules of the project over src/.
import {readdir, readFile} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {REQUIRED, VENDORED_PACKAGES} from '../scripts/vendored.js';
import {RULES} from './support/architecture-rules.ts';
import {readSourceModule, type SourceModule} from './support/source-module.ts';

const ROOT = new URL('../', import.meta.url);
/** By the build: nothing of them is installed with the package. */
const TAKEN_IN = [...VENDORED_PACKAGES, ...REQUIRED, 'pdfjs-dist'];

async function readSources(): Promise<readonly SourceModule[]> {
  const names = await readdir(new URL('src/', ROOT), {recursive: true});
  const paths = names.map(name => `src/${name.replaceAll('\\', '/')}`).sort();
  // Tests drive real servers, clocks and rooms together.
  const code = paths.filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  return Promise.all(
    code.map(async path => readSourceModule(path, await readFile(new URL(path, ROOT), 'utf8'))),
  );
}

describe('src/', async () => {
  const modules = await readSources();

  test.each(Object.entries(RULES))('policy: %s', (_, rule) => {
    expect(rule(modules)).toEqual([]);
  });

  test('policy: every package that is imported is a dependency, or is taken in by the build', async () => {
    const {dependencies, peerDependencies} = JSON.parse(
      await readFile(new URL('package.json', ROOT), 'utf8'),
    );
    const packages = modules
      // Types leave nothing behind; the build refuses a published type that needs a package.
      .flatMap(({imports}) => imports.filter(({erased}) => !erased).map(({specifier = ''}) => specifier))
      .filter(specifier => /^[@a-z]/.test(specifier) && !specifier.startsWith('node:'))
      .map(specifier => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
    const known = (name: string): boolean =>
      Object.hasOwn({...dependencies, ...peerDependencies}, name) || TAKEN_IN.includes(name);
    expect([...new Set(packages)].filter(name => !known(name))).toEqual([]);
  });
});

type Files = Readonly<Record<string, string>>;

function breaches(name: string, files: Files): readonly string[] {
  const rule = RULES[name];
  if (rule === undefined) throw new Error(`There is no rule "${name}".`);
  return rule(Object.entries(files).map(([path, text]) => readSourceModule(`src/${path}`, text)));
}

/** rule → files that breach it once each, and files that do not. */
const CASES: Readonly<Record<string, {readonly bad: readonly Files[]; readonly good: readonly Files[]}>> = {
  'rooms import only what is below them': {
    bad: [
      {'core/a.ts': "import {b} from '../web/page.ts';"},
      {'web/a.ts': "import {b} from '../config/environment.ts';"},
      {'web/url.ts': "import type {b} from '../tools/b.ts';"},
      {'workspace/a.ts': "export {b} from '../sandbox/b.ts';"},
      {'runtime/a.ts': "const b = await import('../tools/b.ts');"},
      {'tools/a.ts': "import '../runtime/b.ts';"},
      {'config/a.ts': "import {b} from '../web/page.ts';"},
      {'cli/a.ts': "import {b} from '../web/fetch-page.ts';"},
      {'mcp/a.ts': "import {b} from '../cli/b.ts';"},
      {'web/a.ts': "import {b} from '../create-toolbox.ts';"},
      {'novel/a.ts': "import {b} from '../core/b.ts';"},
      {'web/a.ts': "new Worker(new URL('../tools/worker.js', import.meta.url));"},
    ],
    good: [
      {
        'web/a.ts': "import {b} from '../core/b.ts';",
        'tools/a.ts': "import {b} from '../web/b.ts'; import {c} from '../sandbox/c.ts';",
        'config/a.ts': "import {b} from '../web/options.ts'; import {c} from '../core/c.ts';",
        'cli/a.ts': "import {b} from '../create-toolbox.ts'; import {c} from '../mcp/c.ts';",
        'create-toolbox.ts': "import {b} from './tools/b.ts'; import {c} from './runtime/c.ts';",
        'index.ts': "export {b} from './create-toolbox.ts';",
        'core/a.ts':
          "import {randomBytes} from 'node:crypto'; const text = \"import {b} from '../web/b.ts'\";",
      },
    ],
  },
  'stages of web/ import only what is below them': {
    bad: [
      {'web/url.ts': "import {b} from './guard/b.ts';"},
      {'web/guard/a.ts': "import type {b} from '../transport/b.ts';"},
      {'web/robots/a.ts': "import {b} from '../fetch-page.ts';"},
      {'web/robots/a.ts': "import {b} from '../navigate/b.ts';"},
      {'web/extract/a.ts': "import {b} from '../convert/b.ts';"},
      {'web/read/a.ts': "import {b} from '../transport/b.ts';"},
      {'web/browser/a.ts': "import {b} from '../navigate/b.ts';"},
    ],
    good: [
      {
        'web/guard/a.ts':
          "import {b} from '../page.ts'; import {c} from './c.ts'; import {d} from '../options.ts';",
        'web/fetch-page.ts': "import {b} from './guard/b.ts'; import {c} from './url.ts';",
        'web/convert/a.ts': "import {b} from '../extract/b.ts'; import {c} from '../tokens/c.ts';",
        'web/navigate/a.ts': "import {b} from '../robots/b.ts'; import {c} from '../guard/c.ts';",
        'web/extract/inline/a.ts': "import {b} from '../b.ts'; import {c} from '../../../core/c.ts';",
      },
    ],
  },
  'core needs no package': {
    bad: [{'core/a.ts': "import {z} from 'zod';"}],
    good: [
      {'core/a.ts': "import {randomBytes} from 'node:crypto';", 'web/a.ts': "import {parse} from 'parse5';"},
    ],
  },
  'imports are literal and name a file of src/': {
    bad: [
      {'web/a.ts': 'await import(name);'},
      {'web/a.ts': 'await import(`./${name}.ts`);'},
      {'web/a.ts': "import {b} from './b.ts';"},
      {'web/a.ts': "import {b} from './b.js';", 'web/b.ts': ''},
      {'web/a.ts': "import {b} from '../../scripts/b.js';"},
    ],
    good: [
      {
        'web/a.ts':
          "import {b} from './b.ts'; new URL('./b.js', here); new URL('../../dist/b.js', here); import.meta.url;",
        'web/b.ts': "await import('./a.ts'); new URL('../../vocabulary/', import.meta.url);",
      },
    ],
  },
  'files do not import each other in a circle': {
    bad: [
      {'web/a.ts': "import {a} from './a.ts';"},
      {'web/a.ts': "import {b} from './b.ts';", 'web/b.ts': "import {type a} from './a.ts';"},
      {
        'web/a.ts': "import {b} from './b.ts';",
        'web/b.ts': "import {c} from './c.ts';",
        'web/c.ts': "import {b} from './b.ts';",
      },
      {'web/a.ts': "import {b} from './b.ts';", 'web/b.ts': "import type {a} from './a.ts';"},
    ],
    good: [
      {
        'web/a.ts': "import {b} from './b.ts'; import {c} from './c.ts';",
        'web/b.ts': "import type {c} from './c.ts';",
        'web/c.ts': '',
      },
    ],
  },
  'powers are confined': {
    bad: [
      {'web/url.ts': "import {lookup} from 'node:dns/promises';"},
      {'web/url.ts': "import {lookup} from 'dns';"},
      {'web/guard/a.ts': "import {connect} from 'node:net';"},
      {'web/robots/a.ts': "import {request} from 'undici';"},
      {'cli/a.ts': "const http = await import('node:http');"},
      {'web/a.ts': 'const page = await fetch(url);'},
      {'web/a.ts': 'new WebSocket(url);'},
      {'workspace/a.ts': "import {spawn} from 'node:child_process';"},
      {'web/a.ts': "const path = process.env['PATH'];"},
      {'cli/a.ts': 'const home = `${process.env.HOME}/x`;'},
      {'web/a.ts': 'const {env} = process;'},
      {'web/a.ts': "import {env} from 'node:process';"},
      {'web/a.ts': 'const {stdout} = process;'},
      {'web/a.ts': 'mkdtemp(tmpdir());'},
      {'web/a.ts': 'console.error(problem);'},
      {'runtime/a.ts': 'process.stdout.write(line);'},
      {'web/a.ts': 'const at = Date.now();'},
      {'web/a.ts': 'const at = new Date();'},
      {'web/a.ts': 'const at = new Date;'},
      {'web/a.ts': 'const at = performance.now();'},
      {'web/a.ts': 'setTimeout(stop, 10);'},
      {'web/a.ts': "import {scheduler} from 'node:timers/promises';"},
      {'web/a.ts': 'fetchPage(AbortSignal.timeout(10));'},
      {'web/a.ts': 'const name = Math.random();'},
      {'web/a.ts': "import {randomUUID} from 'node:crypto';"},
      {'web/a.ts': "import {parse} from 'smol-toml';"},
    ],
    good: [
      {
        'web/guard/a.ts': "import {lookup} from 'node:dns/promises';",
        'web/transport/a.ts': "import {connect} from 'node:net'; import {request} from 'undici';",
        'web/robots/a.ts': "import type {Socket} from 'node:net'; // await fetch(url); process.env",
        'workspace/process-runner.ts': "import {spawn} from 'node:child_process';",
        'config/a.ts': "const env = process.env; import {parse} from 'smol-toml';",
        'cli/a.ts': 'process.stdout.write(line); process.exitCode = 1; const {stderr} = process;',
        'core/a.ts': 'Date.now(); setTimeout(stop, 10); Math.random();',
        'web/a.ts':
          "new Date('2026-01-10'); new Date(at); socket.setTimeout(0); page.fetch(url); import {createHash} from 'node:crypto';",
      },
    ],
  },
  'what a check proved is minted by the check': {
    bad: [
      {'web/fetch-page.ts': 'const target = {url} as PinnedTarget;'},
      {'web/transport/a.ts': 'const target = {url} as unknown as\n  PinnedTarget;'},
      {'web/transport/a.ts': 'const target = {url} as Readonly<PinnedTarget>;'},
      {'web/url.ts': 'const url = value as CheckedUrl;'},
      {'web/guard/a.ts': 'const url = value as WebUrl;'},
      {'web/cache/a.ts': 'const key = text as CanonicalUrl;'},
      {'web/cache/a.ts': 'function isCanonical(text: string): text is CanonicalUrl {}'},
    ],
    good: [
      {
        'web/guard/a.ts': 'const target = {url} as unknown as PinnedTarget;',
        'web/url.ts': 'const url = {canonical: text as CanonicalUrl} as unknown as WebUrl;',
        'web/cache/a.ts': 'const url: CanonicalUrl = page.url; // as CanonicalUrl',
      },
    ],
  },
  'a file has at most 600 lines': {
    bad: [{'web/a.ts': 'a;\n'.repeat(601)}],
    good: [
      {
        'web/a.ts': 'a;\n'.repeat(600),
        'web/extract/entities.data.ts': 'a;\n'.repeat(601),
        'core/failure-codes.ts': 'a;\n'.repeat(601),
        'web/options.ts': 'a;\n'.repeat(601),
      },
    ],
  },
  'a file says what it is': {
    bad: ['utils', 'util', 'helpers', 'common', 'misc', 'types'].map(name => ({[`web/url/${name}.ts`]: ''})),
    good: [{'web/transport/media-types.ts': '', 'web/common-words.ts': ''}],
  },
  'exports are named one by one': {
    bad: [
      {'web/a.ts': 'export default 1;'},
      {'web/a.ts': 'export {a as default};'},
      {'web/a.ts': "export * from './b.ts';"},
      {'web/a.ts': "export * as b from './b.ts';"},
      {'web/a.ts': "export type * from './b.ts';"},
    ],
    good: [
      {'web/a.ts': "export {b, type C} from './b.ts'; export const text = 'export default'; /* export * */"},
    ],
  },
};

describe('the rules', () => {
  test('policy: every rule is tried', () => {
    expect(Object.keys(CASES)).toEqual(Object.keys(RULES));
  });

  describe.each(Object.entries(CASES))('policy: %s', (name, {bad, good}) => {
    test.each(bad.map(files => [files]))('refuses %j', files => {
      expect(breaches(name, files)).toHaveLength(1);
    });

    test.each(good.map(files => [files]))('accepts %j', files => {
      expect(breaches(name, files)).toEqual([]);
    });
  });
});

describe('reading a module', () => {
  test('policy: imports are found whatever their form, and only imports', () => {
    const text = [
      "import a, {type b} from './a.ts';",
      "import * as c from './c.ts';",
      "import type {d} from './d.ts';",
      "import './e.ts';",
      "export {f as g} from './f.ts';",
      "const h = () => import('./h.ts');",
      "const i = import.meta.url + 'no' + x.import('./no.ts');",
      "// import './no.ts'",
      "const j = `import './no.ts' ${await import('./j.ts')} }`;",
      "const k = /import '.\\/no.ts'/.test(\"import './no.ts'\") ? 4 / 2 : /[/'\"]/u;",
      'export type L = {readonly from: "./no.ts"};',
      "export const m = {from: './no.ts'};",
      "import {\n  n,\n} from './n.ts';",
    ].join('\n');
    const found = readSourceModule('src/web/x.ts', text).imports;
    expect(found.map(({specifier, line, erased}) => [specifier, line, erased])).toEqual([
      ['./a.ts', 1, false],
      ['./c.ts', 2, false],
      ['./d.ts', 3, true],
      ['./e.ts', 4, false],
      ['./f.ts', 5, false],
      ['./h.ts', 6, false],
      ['./j.ts', 9, false],
      ['./n.ts', 13, false],
    ]);
  });

  test('policy: what is in a comment or a literal is no code; what is in a template is', () => {
    const {code} = readSourceModule('src/a.ts', "a('b', `c${d}e`, /f'/g); // h\ni /* j\n */ / k;");
    expect(code.replace(/"+/g, '"')).toBe('a(", "d", ");     \ni     \n    / k;');
  });
});
