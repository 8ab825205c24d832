import {describe, expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {readTree} from '../../../test/support/read-tree.ts';

const FILES = {'src/a.js': 'one\n\ttwo\nthree\n', 'b.txt': 'x\r\ny\r\n'};

async function apply(unified_diff: string): Promise<{message: string; files: Record<string, string>}> {
  const place: CallableWorkspace = await callWorkspaceTools(FILES);
  const result = await place.call('apply_patch', {unified_diff});
  const files = Object.entries(readTree(place.root))
    .filter(([path]) => path !== 'src')
    .map(([path, text]) => [path, text.replace(/^\d+ /, '')]);
  return {message: result.error?.message ?? '', files: Object.fromEntries(files)};
}

const block = (search: string, replace: string): string =>
  `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n`;

describe('W22: SEARCH/REPLACE blocks', () => {
  test.each([
    ['the name above it', `src/a.js\n${block('one', 'ONE')}`],
    ['Aider: the name above the fence', `Here:\n\nsrc/a.js\n\`\`\`js\n${block('one', 'ONE')}\`\`\`\n`],
    ['Aider: the name in the fence', `\`\`\`\nsrc/a.js\n${block('one', 'ONE')}\`\`\`\n`],
    ['a name in Markdown', `### \`src/a.js\`:\n${block('one', 'ONE')}`],
    ['Cline', '<path>src/a.js</path>\n<diff>\n------- SEARCH\none\n=======\nONE\n+++++++ REPLACE\n</diff>\n'],
    ['Roo', 'src/a.js\n<<<<<<< SEARCH\n:start_line:9\n-------\none\n=======\nONE\n>>>>>>> REPLACE\n'],
    ['CRLF of the way', `src/a.js\n${block('one', 'ONE')}`.replaceAll('\n', '\r\n')],
    ['spaces for the tab of a line that stays', `src/a.js\n${block('one\n    two', 'ONE\n    two')}`],
  ])('%s', async (_, text) => {
    expect(await apply(text)).toEqual({message: '', files: {...FILES, 'src/a.js': 'ONE\n\ttwo\nthree\n'}});
  });

  test('several, in files of their own and in any order', async () => {
    const text = `src/a.js\n${block('three', '3')}${block('one', '1')}\nb.txt\n${block('y', 'y\nz')}\nnew.txt\n${block('', 'n')}`;
    expect(await apply(text)).toEqual({
      message: '',
      files: {'src/a.js': '1\n\ttwo\n3\n', 'b.txt': 'x\r\ny\r\nz\r\n', 'new.txt': 'n\n'},
    });
  });

  test.each([
    ['without a name', block('one', 'ONE'), /Line 1: the line above the block has to name its file/],
    ['cut off', 'src/a.js\n<<<<<<< SEARCH\none\n=======\nONE\n', /Line 2: .* has no ">>>>>>> REPLACE" line/],
    ['with two dividers', `src/a.js\n${block('one\n=======\nx', 'y')}`, /needs one line of "======="/],
    ['that changes nothing', `src/a.js\n${block('one', 'one')}`, /changes nothing/],
    ['that is not there', `src/a.js\n${block('four', '4')}`, /Hunk 1 of "src\/a.js"/],
    ['whose file is not there', `src/c.js\n${block('one', '1')}`, /There is no "src\/c.js"/],
    ['without old text for a file that is there', `src/a.js\n${block('', 'n')}`, /exists already/],
  ])('policy: one %s leaves every file as it was', async (_, text, says) => {
    const {message, files} = await apply(text);
    expect(message).toMatch(says);
    expect(files).toEqual(FILES);
  });
});

test('W22: the tool names each form that it takes, and takes it as it is named', async () => {
  const {tool} = await callWorkspaceTools(FILES);
  const said = JSON.stringify(tool('apply_patch').paramsSchema);
  for (const form of ['Unified diff', '*** Begin Patch', 'SEARCH/REPLACE with the file name above'])
    expect(said).toContain(form);
  for (const text of [
    '--- a/src/a.js\n+++ b/src/a.js\n@@ -1 +1 @@\n-one\n+ONE\n',
    '*** Begin Patch\n*** Update File: src/a.js\n-one\n+ONE\n*** End Patch\n',
    `src/a.js\n${block('one', 'ONE')}`,
  ])
    expect((await apply(text)).files).toEqual({...FILES, 'src/a.js': 'ONE\n\ttwo\nthree\n'});
});
