import type {Toolbox} from '../../create-toolbox.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {type Console, styled} from '../console.ts';
import {EXIT} from '../exit-codes.ts';
import {parseFlags} from '../flags/parse-flags.ts';
import {parseParams} from '../flags/parse-params.ts';
import {SESSION_FLAGS} from '../flags/session-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {openToolbox} from '../open-toolbox.ts';
import {renderFailure} from '../render/render-failure.ts';
import {renderReason} from '../render/render-reason.ts';
import {quoted} from '../terminal/quoted.ts';

const FLAGS = {
  json: {type: 'boolean', help: 'Print the explanation as JSON.'},
  ...SESSION_FLAGS,
} as const;

export const policyCommand: CommandDefinition = {
  usage: 'explain TOOL [JSON]',
  flags: FLAGS,
  examples: ['forge-tools policy explain web_fetch \'{"url": "https://example.com/"}\''],
  async run(argv, context: CommandContext) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [verb, tool, written, ...more] = positionals;
    if (verb !== 'explain' || tool === undefined || more.length > 0) {
      throw new UsageError('Expected "policy explain TOOL JSON".');
    }
    const params = parseParams(written);
    const toolbox = await openToolbox(values, context);
    try {
      const {console} = context;
      const explained = await toolbox.explainPolicy(tool, params);
      if (!explained.ok) {
        console.err(renderFailure(explained.error, undefined, console));
        return EXIT.failed;
      }
      const {value} = explained;
      await console.out(values.json ? `${JSON.stringify(value)}\n` : renderExplanation(value, console));
      return EXIT.ok;
    } finally {
      await toolbox.close();
    }
  },
};

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
