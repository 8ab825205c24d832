// @ts-check
// Lets an agent edit the documentation by itself, asks about everything else, and keeps its hands off the licence:
// node examples/cookbook/edit-with-rules.js PROJECT
import {createToolbox} from 'forge-tools';

/** @type {import('forge-tools').ApprovalRule} */
const RULE = {
  tool: '*',
  decision: 'allow',
  host: '',
  path: '',
  command_prefix: '',
  match: [],
  not_match: [],
  reason: '',
};

const toolbox = createToolbox({
  workspace: process.argv[2] ?? '.',
  config: {
    tools: {
      mode: 'enabled',
      approval: {
        rules: [
          // The examples are tests: a rule that fails its own stops the start.
          {...RULE, path: 'docs/**', match: ['docs/a/b.md'], not_match: ['src/docs.js']},
          {...RULE, path: 'LICENSE', decision: 'deny', reason: 'It is not ours to change.'},
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
for (const [index, params] of edits.entries()) {
  console.log(`write_file ${params.path}`);
  const {status, error} = await toolbox.call({tool: 'write_file', params, request_id: String(index)});
  console.log(`  ${status}${error === null ? '' : `: ${error.message}`}`);
}
await toolbox.close();
