// `read`: answers one question about a page: its outline, a section, passages, or whether it says a quote.
import {type Answer, type CommandContext, defineCommand, EXIT} from '../command.ts';
import {printable} from '../console.ts';
import {integerFlag, modeFlag, UsageError, type ValuesOf} from '../flags.ts';
import {readSettings} from '../read-settings.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';
import type {VerifyQuoteData, WebReadArgs} from '../toolbox-services.ts';

// biome-ignore format: a flag is a line
const FLAGS = {
  find: {type: 'string', value: 'WORDS', help: 'The passages that say most about a question.'},
  section: {type: 'string', value: 'N', help: 'A section of the outline, by its number or heading.'},
  chunk: {type: 'string', value: 'N', help: 'From this chunk on.'},
  quote: {type: 'string', value: 'TEXT', help: 'Whether the page says this word for word, and where.'},
  'max-tokens': {type: 'string', value: 'N', help: 'Most tokens of text, 256 to 8192. Default: 2000.'},
  'keep-links': {type: 'boolean', help: 'Show the targets of links too.'},
  snapshot: {type: 'string', value: 'ID', help: 'The text that an earlier answer named.'},
  since: {type: 'string', value: 'ID', help: 'Which sections are not as they were under this snapshot.'},
  'max-age': {type: 'string', value: 'SECONDS', help: 'Ask again for a page that was not confirmed for longer; unchanged, it is not downloaded.'},
  json: {type: 'boolean', help: 'Print the answer as one line of JSON, also of a call that failed.'},
  'no-cache': {type: 'boolean', help: 'Do not read the page cache (the fresh page is still written to it).'},
  'force-browser': {type: 'boolean', help: 'Render in the headless browser.'},
  mode: modeFlag('tools.webread.mode'),
  ...TOOLBOX_FLAGS,
} as const;

type FlagValues = ValuesOf<typeof FLAGS>;

/** Each is a question of its own. */
const QUESTIONS = ['find', 'section', 'chunk', 'quote'] as const;

export const readCommand = defineCommand({
  usage: 'URL [--find WORDS | --section N | --chunk N | --quote TEXT]',
  takes: [args => args.length === 1, 'read needs one URL. Quote what has blanks.'],
  flags: FLAGS,
  examples: [
    'forge-tools read https://example.com/guide',
    'forge-tools read https://example.com/guide --find "How much water do bees drink?"',
    'forge-tools read https://example.com/guide --section 3',
    'forge-tools read https://example.com/guide --quote "a litre of water"',
  ],
  async run({values, args: [url = ''], ...context}) {
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
});

/** Exit code 1 also says that a quote is not one. */
async function ask(url: string, values: FlagValues, context: CommandContext): Promise<Answer> {
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
    if (!answer.ok) return values.json ? {json: answer.error, text: '', code: EXIT.failed} : answer;
    const {data, text} = answer.value;
    const shown = console.interactive ? printable(text) : text;
    return {json: data, text: `${shown}\n`, code: isAnswer(data) ? EXIT.ok : EXIT.failed};
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
