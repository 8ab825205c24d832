// Holds names of src/, test/, bench/ and scripts/ to the field's words: no word that only we understand is in the name of a file
// or an identifier.
import {readdir, readFile} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {readSourceModule} from './support/source-module.ts';

interface PrivateWord {
  /** Forms of the word, in lower case. */
  readonly forms: readonly string[];
  /** What is said instead. */
  readonly say: string;
  /** Where the word means what only we mean by it. Everywhere unless said. */
  readonly within?: RegExp;
  /** Names in which it has its ordinary meaning, or which are data that others read, and why. */
  readonly except?: readonly {readonly name: RegExp; readonly why: string; readonly at?: RegExp}[];
}

const PRIVATE: readonly PrivateWord[] = [
  {forms: ['judge', 'judges', 'judged', 'judging'], say: 'check, decide'},
  {
    forms: ['verdict', 'verdicts'],
    say: 'check, decision',
    except: [
      {
        name: /^verdicts?$/i,
        at: /\/(?:read|tools\/web|cli\/commands|reading)\/|\/e2e\/web-read/,
        why: 'a field of verify_quote, and what policy prints',
      },
      {
        name: /^verdict$/,
        at: /\/report\/|\/explain-call|\/create-toolbox\/profile\.test|\/e2e\/toolbox-call/,
        why: 'a field of the page of a run and of an explanation',
      },
    ],
  },
  {forms: ['admit', 'admits', 'admitted', 'admission'], say: 'authorize'},
  {forms: ['ground'], say: 'root handle'},
  {forms: ['pin', 'pins', 'pinned'], say: 'entry handle', within: /^src\/workspace\//},
  {forms: ['desk', 'desks'], say: 'manager, queue'},
  {
    forms: ['parts'],
    say: 'deps',
    within: /^src\/(?:web\/[^/]+|runtime\/(?:[^/]+|call\/[^/]+))\.ts$/,
    except: [{name: /^parts$/, at: /web\/page\.ts$/, why: 'pieces of a chunk'}],
  },
  {forms: ['box', 'boxes'], say: 'sandbox process'},
  {forms: ['spare'], say: 'warm'},
  {forms: ['sweep', 'swept', 'sweeping'], say: 'kill leftovers'},
  {forms: ['offload'], say: 'worker pool'},
  {
    forms: ['flight', 'flights', 'passenger', 'passengers'],
    say: 'in-flight call, waiters',
    except: [
      {name: /^SingleFlight$|^single-flight(?:\.test)?$/, why: 'the name of the pattern'},
      {name: /^[iI]n-?[fF]light/, why: 'a request that is under way'},
    ],
  },
  {forms: ['survey', 'surveyed'], say: 'scan'},
  {
    forms: ['behaviour', 'behaviours'],
    say: 'element role',
    except: [
      {
        name: /behaviours?(?:\.test)?$/i,
        at: /test\/hostile\/|\/wire-limits\.test/,
        why: 'what a server does on the wire',
      },
    ],
  },
  {forms: ['flattener', 'flatteners', 'liner', 'liners'], say: 'inline contexts'},
  {forms: ['thread', 'threads'], say: 'file history', within: /^src\/workspace\/patch\//},
  {forms: ['ledger', 'ledgers'], say: 'read tracker'},
  {forms: ['basis'], say: 'base version'},
  {forms: ['seal', 'seals', 'sealed'], say: 'append hash'},
  {forms: ['genesis'], say: 'initial hash'},
  {
    forms: ['torn'],
    say: 'partial',
    except: [{name: /^torn$|^tornBytes$|^torn_bytes$/, why: 'what `events verify --json` and the log say'}],
  },
  {forms: ['ending'], say: 'exit status', within: /^src\/(?:sandbox|tools)\//},
  {forms: ['mark', 'marked'], say: 'sentinel', within: /^src\/sandbox\//},
  {forms: ['tripwire'], say: 'leak detector'},
  {
    forms: ['face', 'faces', 'door', 'doors'],
    say: 'interface, gateway',
    except: [
      {name: /^face$/, at: /extract\/parse\//, why: 'an attribute of HTML'},
      {name: /^disableFontFace$/, at: /extract\/pdf\//, why: 'an option of pdf.js'},
    ],
  },
  {forms: ['settle'], say: 'finish', within: /^src\/(?:core|tools|runtime)\//},
  {forms: ['passing'], say: 'uncacheable', within: /^src\/web\//},
  {forms: ['landing'], say: 'final response'},
  {forms: ['barred'], say: 'quoted, untrusted trees'},
  {forms: ['somebody', 'whom'], say: 'the user, the approver, another process'},
];

interface Named {
  readonly path: string;
  readonly name: string;
}

const ROOT = new URL('../', import.meta.url);
const FOLDERS = ['src', 'test', 'bench', 'scripts'];

async function namesOf(): Promise<readonly Named[]> {
  const listed = await Promise.all(FOLDERS.map(async folder => listFiles(`${folder}/`)));
  const code = listed.flat().filter(name => /\.(?:ts|js)$/.test(name) && !name.endsWith('.d.ts'));
  const named = await Promise.all(
    code.map(async path => {
      const identifiers = identifiersOf(path, await readFile(new URL(path, ROOT), 'utf8'));
      return [...path.replace(/\.[tj]s$/, '').split('/'), ...identifiers].map(one => ({path, name: one}));
    }),
  );
  return named.flat();
}

/** Without other people's code: packages, and pages that tests read. Links are not followed. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(new URL(folder, ROOT), {withFileTypes: true});
  const listed = await Promise.all(
    entries.map(entry => {
      const path = `${folder}${entry.name}`;
      if (entry.isFile()) return [path];
      return entry.isDirectory() && !/\/(?:node_modules|fixtures)$/.test(path) ? listFiles(`${path}/`) : [];
    }),
  );
  return listed.flat();
}

function identifiersOf(path: string, text: string): ReadonlySet<string> {
  const {code} = readSourceModule(path, text);
  return new Set(code.match(/(?<![\w$])[A-Za-z_$][\w$]*/g) ?? []);
}

/** `#openBox2` → open, box; `read-ledger` → read, ledger; `MAX_BOXES` → max, boxes. */
function wordsOf(name: string): readonly string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map(word => word.toLowerCase());
}

function findPrivate(names: readonly Named[]): readonly string[] {
  return names.flatMap(({path, name}) =>
    PRIVATE.filter(
      ({forms, within, except = []}) =>
        (within?.test(path) ?? true) &&
        wordsOf(name).some(word => forms.includes(word)) &&
        !except.some(one => one.name.test(name) && (one.at?.test(path) ?? true)),
    ).map(({say}) => `${path}: "${name}"; say: ${say}`),
  );
}

test('policy: names are words of the field', async () => {
  expect(findPrivate(await namesOf())).toEqual([]);
});

test('policy: every exception is still needed', async () => {
  const names = await namesOf();
  const unused = PRIVATE.flatMap(({forms, except = []}) =>
    except.filter(
      one =>
        !names.some(
          ({path, name}) =>
            one.name.test(name) &&
            (one.at?.test(path) ?? true) &&
            wordsOf(name).some(word => forms.includes(word)),
        ),
    ),
  );
  expect(unused.map(({why}) => why)).toEqual([]);
});

describe('policy: a private word is found', () => {
  test.each([
    ['src/web/a.ts', 'judgeStatus'],
    ['src/web/judge-status.ts', 'judge-status'],
    ['src/sandbox/a.ts', 'MAX_BOXES'],
    ['src/workspace/jail/a.ts', 'pinChild'],
    ['src/workspace/patch/a.ts', 'OpenThread'],
  ])('%s: %s', (path, name) => {
    expect(findPrivate([{path, name}])).toHaveLength(1);
  });

  test.each([
    ['src/web/transport/a.ts', 'connectPinned'],
    ['src/web/a.ts', 'SingleFlight'],
    ['src/web/a.ts', 'checkbox'],
  ])('and %s: %s is none', (path, name) => {
    expect(findPrivate([{path, name}])).toEqual([]);
  });
});
