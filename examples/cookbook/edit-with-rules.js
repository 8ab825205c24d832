// @ts-check
// Lets an agent edit the documentation by itself, asks about everything else, and keeps its hands off the licence:
// node examples/cookbook/edit-with-rules.js PROJECT
import {createToolbox} from 'forge-tools';

const toolbox = createToolbox({
  workspace: process.argv[2] ?? '.',
  config: {
    tools: {
      approval: {
        rules: [
          // The examples are tests: a rule that fails its own stops the start.
          {tool: '*', decision: 'allow', path: 'docs/**', match: ['docs/a/b.md'], not_match: ['src/docs.js']},
          {tool: '*', decision: 'deny', path: 'LICENSE', reason: 'It is not ours to change.'},
        ],
      },
    },
  },
  approver: {
    // Put your question to a person here. The preview is the diff that would be applied, to the letter.
    ask: async ({summary, preview}) => {
      console.log(`  asked: ${summary}, ${preview.split('\n').length} lines of preview`);
      return {answer: 'refuse', reason: 'only the documentation today'};
    },
  },
});

// What a model would call.
const edits = [
  {path: 'docs/guide.md', content: '# Guide\n'},
  {path: 'src/index.js', content: 'export {};\n'},
  {path: 'LICENSE', content: 'Do what you like.\n'},
];
for (const edit of edits) {
  console.log(`write_file ${edit.path}`);
  const written = await toolbox.writeFile(edit);
  console.log(written.ok ? '  success' : `  error: ${written.error.message}`);
}
await toolbox.close();
