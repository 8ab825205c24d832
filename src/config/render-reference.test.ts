import {expect, test} from 'vitest';
import type {Section} from '../core/setting.ts';
import {renderConfigReference} from './render-reference.ts';

const SCHEMA: Section = {
  kind: 'section',
  doc: 'All.',
  entries: {
    tools: {
      kind: 'section',
      doc: 'The tools.',
      entries: {
        on: {kind: 'flag', default: true, doc: 'On | off.'},
        size: {kind: 'integer', default: 5, min: 1, max: 9, unit: 'bytes', doc: 'Its size.', extension: true},
        count: {kind: 'integer', default: 2, min: 0, max: 3, doc: 'How many.'},
        mode: {kind: 'choice', default: 'a', choices: ['a', 'b'], doc: 'Which.'},
        name: {kind: 'text', default: 'x', doc: 'Its name.'},
        below: {
          kind: 'section',
          doc: 'More.',
          extension: true,
          entries: {
            dir: {kind: 'text', path: true, default: '', doc: 'Where.', extension: true},
            words: {kind: 'text-list', default: ['a', 'b'], doc: 'Words.'},
            ports: {kind: 'integer-list', default: [80, 443], doc: 'Ports.'},
            any: {kind: 'open-table', default: {}, doc: 'Anything.'},
            rules: {
              kind: 'table-list',
              default: [],
              doc: 'Rules.',
              required: ['tool'],
              entries: {
                tool: {kind: 'text', default: '', doc: 'A tool.'},
                times: {kind: 'integer', default: 1, min: 1, max: 4, doc: 'Times.'},
              },
            },
          },
        },
        empty: {kind: 'section', doc: 'Nothing.', entries: {}},
      },
    },
  },
};

const REFERENCE = `## \`[tools]\`

The tools.

| key | type | default | range | what |
|---|---|---|---|---|
| \`on\` | boolean | \`true\` |  | On \\| off. |
| \`size\` | integer | \`5\` | 1-9 bytes | *Extension.* Its size. |
| \`count\` | integer | \`2\` | 0-3 | How many. |
| \`mode\` | string | \`"a"\` | \`"a"\`, \`"b"\` | Which. |
| \`name\` | string | \`"x"\` |  | Its name. |

## \`[tools.below]\`

*Extension.* More.

| key | type | default | range | what |
|---|---|---|---|---|
| \`dir\` | path | \`""\` |  | Where. |
| \`words\` | array of strings | \`["a", "b"]\` |  | Words. |
| \`ports\` | array of integers | \`[80, 443]\` |  | Ports. |
| \`any\` | table | \`{}\` |  | Anything. |
| \`rules\` | array of tables | \`[]\` |  | Rules. |

Keys of a \`[[tools.below.rules]]\`:

- \`tool\` (string, required): A tool.
- \`times\` (integer, 1-4): Times.

## A complete file

All defaults, spelled out.

\`\`\`toml
# The tools.
[tools]
# On | off.
on = true
# Its size. (1-9 bytes)
size = 5
# How many. (0-3)
count = 2
# Which. ("a", "b")
mode = "a"
# Its name.
name = "x"

# More.
[tools.below]
# Where.
dir = ""
# Words.
words = ["a", "b"]
# Ports.
ports = [80, 443]
# Anything.
any = {}
# Rules.
rules = []
\`\`\`
`;

test('policy: the reference says of every setting its type, default, range and meaning, and spells out a file', () => {
  const written = renderConfigReference(SCHEMA);
  const start = written.indexOf('## `[tools]`');
  expect(written.slice(start)).toBe(REFERENCE);
  expect(written.slice(0, start)).toMatch(
    /^# Configuration\n[\s\S]*The workspace is never\ssearched[\s\S]*have them\.\n\n$/,
  );
});
