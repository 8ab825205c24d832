import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {modeFlag} from '../flags/mode-flag.ts';
import {integerFlag, parseFlags} from '../flags/parse-flags.ts';
import {TOOLBOX_FLAGS} from '../flags/toolbox-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {readSettings} from '../read-settings.ts';
import {renderFailure} from '../render/render-failure.ts';
import {printable} from '../terminal/printable.ts';
import type {VerifyQuoteData, WebReadArgs} from '../toolbox-services.ts';

const FLAGS = {
  find: {type: 'string', value: 'WORDS', help: 'The passages that say most about a question.'},
  section: {type: 'string', value: 'N', help: 'A section of the outline, by its number or heading.'},
  chunk: {type: 'string', value: 'N', help: 'From this chunk on.'},
  quote: {type: 'string', value: 'TEXT', help: 'Whether the page says this word for word, and where.'},
  'max-tokens': {type: 'string', value: 'N', help: 'Most tokens of text, 256 to 8192. Default: 2000.'},
  'keep-links': {type: 'boolean', help: 'Show the targets of links too.'},
  snapshot: {type: 'string', value: 'ID', help: 'The text that an earlier answer named.'},
  since: {type: 'string', value: 'ID', help: 'Which sections are not as they were under this snapshot.'},
  'max-age': {
    type: 'string',
    value: 'SECONDS',
    help: 'Ask again for a page that was not confirmed for longer; unchanged, it is not downloaded.',
  },
  json: {type: 'boolean', help: 'Print the answer as one line of JSON, also of a call that failed.'},
  'no-cache': {type: 'boolean', help: 'Do not read the page cache (the fresh page is still written to it).'},
  'force-browser': {type: 'boolean', help: 'Render in the headless browser.'},
  mode: modeFlag('tools.webread.mode'),
  ...TOOLBOX_FLAGS,
} as const;

type FlagValues = ReturnType<typeof parseFlags<typeof FLAGS>>['values'];

/** Each is a question of its own. */
const QUESTIONS = ['find', 'section', 'chunk', 'quote'] as const;

export const readCommand: CommandDefinition = {
  usage: 'URL [--find WORDS | --section N | --chunk N | --quote TEXT]',
  flags: FLAGS,
  examples: [
    'forge-tools read https://example.com/guide',
    'forge-tools read https://example.com/guide --find "How much water do bees drink?"',
    'forge-tools read https://example.com/guide --section 3',
    'forge-tools read https://example.com/guide --quote "a litre of water"',
  ],
  async run(argv, context) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    const [url, ...more] = positionals;
    if (url === undefined || more.length > 0)
      throw new UsageError('read needs one URL. Quote what has blanks.');
    const asked = QUESTIONS.filter(name => values[name] !== undefined);
    if (asked.length > 1)
      throw new UsageError(`--${asked.join(' and --')} are questions of their own: take one.`);
    if (
      values.quote !== undefined &&
      (values['max-tokens'] ?? values['keep-links'] ?? values.since) !== undefined
    ) {
      throw new UsageError('--max-tokens, --keep-links and --since do not go with --quote.');
    }
    return ask(url, values, context);
  },
};

/** Exit code 1 also says that a quote is not one. */
async function ask(url: string, values: FlagValues, context: CommandContext): Promise<ExitCode> {
  const args = readArgs(url, values);
  const {console, environment, signal} = context;
  const {resolved, log} = await readSettings(values, context);
  const {openPageReader} = await context.services();
  const reader = openPageReader(resolved, {environment, log});
  try {
    const {quote} = values;
    const answer =
      quote === undefined
        ? await reader.webRead(args, signal)
        : await reader.verifyQuote({...documentArgs(url, values), quote}, signal);
    if (signal.aborted) return EXIT.interrupted;
    if (values.json) {
      await console.out(`${JSON.stringify(answer.ok ? answer.value.data : answer.error)}\n`);
    } else if (answer.ok) {
      const {text} = answer.value;
      await console.out(`${console.interactive ? printable(text) : text}\n`);
    } else {
      console.err(renderFailure(answer.error, undefined, console));
    }
    return answer.ok && isAnswer(answer.value.data) ? EXIT.ok : EXIT.failed;
  } finally {
    await reader.close();
  }
}

function isAnswer(data: object | VerifyQuoteData): boolean {
  if (!('checks' in data)) return true;
  return data.checks.every(({verdict}) => verdict === 'exact' || verdict === 'same');
}

function readArgs(url: string, values: FlagValues): WebReadArgs {
  const chunk = integerFlag('chunk', values.chunk, 1, 1_000_000);
  const maxTokens = integerFlag('max-tokens', values['max-tokens'], 256, 8192);
  return {
    ...documentArgs(url, values),
    ...(values.find !== undefined && {find: values.find}),
    ...(values.section !== undefined && {section: values.section}),
    ...(chunk !== undefined && {chunk}),
    ...(maxTokens !== undefined && {max_tokens: maxTokens}),
    ...(values.since !== undefined && {since: values.since}),
    ...(values['keep-links'] && {links: 'keep'}),
  };
}

function documentArgs(url: string, values: FlagValues) {
  const maxAge = integerFlag('max-age', values['max-age'], 0, 31_536_000);
  return {
    url,
    ...(maxAge !== undefined && {max_age: maxAge}),
    ...(values.snapshot !== undefined && {snapshot: values.snapshot}),
    ...(values['no-cache'] && {no_cache: true}),
    ...(values['force-browser'] && {force_browser: true}),
  };
}
