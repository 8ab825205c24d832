// `policy explain`: says what would be decided about a call, and by which rule, without running it.
import type {Toolbox} from '../../create-toolbox.ts';
import {defineCommand} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {parseParams} from '../flags.ts';
import {openToolbox} from '../open-toolbox.ts';
import {renderReason} from '../print-result.ts';
import {SESSION_FLAGS} from '../session-flags.ts';
import {quoted} from '../text-layout.ts';

export const policyCommand = defineCommand({
  usage: 'explain TOOL [JSON]',
  takes: [
    ({0: verb, length}) => verb === 'explain' && (length === 2 || length === 3),
    'Expected "policy explain TOOL JSON".',
  ],
  flags: {
    json: {type: 'boolean', help: 'Print the explanation as JSON.'},
    ...SESSION_FLAGS,
  },
  examples: ['forge-tools policy explain web_fetch \'{"url": "https://example.com/"}\''],
  async run({values, args: [, tool = '', written], ...context}) {
    const params = parseParams(written);
    const toolbox = await openToolbox(values, context);
    try {
      const explained = await toolbox.explainPolicy(tool, params);
      if (!explained.ok) return explained;
      return {json: explained.value, text: renderExplanation(explained.value, context.console)};
    } finally {
      await toolbox.close();
    }
  },
});

const VERBS = {
  allow: 'It would run',
  ask: 'The approver would be asked',
  deny: 'It would be refused',
} as const;
const STYLES = {allow: 'green', ask: 'yellow', deny: 'red'} as const;

type Explained = Awaited<ReturnType<Toolbox['explainPolicy']>>;
type Explanation = Extract<Explained, {ok: true}>['value'];

function renderExplanation({intent, verdict}: Explanation, console: Console): string {
  const {summary, preview} = intent;
  const {decision, overruled} = verdict;
  return [
    styled(console, 'bold', summary.replaceAll('\n', ' ')),
    `${styled(console, STYLES[decision], VERBS[decision])}: ${renderReason(verdict)}`,
    ...(verdict.why === undefined ? [] : [`  ${verdict.why}`]),
    ...overruled.map(finding =>
      styled(console, 'dim', `  overruled: ${finding.decision}, ${renderReason(finding)}`),
    ),
    ...(preview.trim() === summary ? [] : quoted(preview, console)),
    '',
  ].join('\n');
}
