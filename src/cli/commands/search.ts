// `search`: finds pages by the configured search engines, and reads the best of them.
import {type Answer, type CommandContext, defineCommand, EXIT} from '../command.ts';
import {printable} from '../console.ts';
import {integerFlag, type ValuesOf} from '../flags.ts';
import {readSettings} from '../read-settings.ts';
import {TOOLBOX_FLAGS} from '../session-flags.ts';

// biome-ignore format: a flag is a line
const FLAGS = {
  read: {type: 'string', value: 'N', help: 'Also read the best N pages, 1 to 5, and print passages for the query.'},
  results: {type: 'string', value: 'N', help: 'Most results, 1 to 20. Default: 10.'},
  page: {type: 'string', value: 'N', help: 'Further results, 2 to 10.'},
  site: {type: 'string', value: 'HOST', help: 'Pages of this host only.'},
  since: {type: 'string', value: 'TIME', help: 'Pages of the last day, week, month or year.'},
  language: {type: 'string', value: 'CODE', help: 'Pages in this language, such as de.'},
  'max-tokens': {type: 'string', value: 'N', help: 'Most tokens of the passages, 256 to 8192. Default: 3000.'},
  json: {type: 'boolean', help: 'Print the answer as one line of JSON, also of a call that failed.'},
  ...TOOLBOX_FLAGS,
} as const;

export const searchCommand = defineCommand({
  usage: 'QUERY [--read N]',
  takes: [args => args.length > 0, 'search needs a query.'],
  flags: FLAGS,
  examples: [
    'forge-tools search how much water does a bee colony drink',
    'forge-tools search "vitest retry option" --site vitest.dev --read 2',
  ],
  run: ({values, args, ...context}) => search(args.join(' '), values, context),
});

async function search(
  query: string,
  values: ValuesOf<typeof FLAGS>,
  context: CommandContext,
): Promise<Answer> {
  const numbers = {
    read: integerFlag('read', values.read, 1, 5),
    max_results: integerFlag('results', values.results, 1, 20),
    page: integerFlag('page', values.page, 1, 10),
    max_tokens: integerFlag('max-tokens', values['max-tokens'], 256, 8192),
  };
  const {site, since, language} = values;
  const given = Object.entries({query, site, since, language, ...numbers}).filter(
    ([, value]) => value !== undefined,
  );
  const {console, environment, signal} = context;
  const {resolved, log} = await readSettings(values, context);
  const {openPageReader} = await context.services();
  const reader = openPageReader(resolved, {environment, log});
  try {
    const answer = await reader.webSearch(Object.fromEntries(given), signal);
    if (signal.aborted) return EXIT.interrupted;
    if (!answer.ok) return values.json ? {json: answer.error, text: '', code: EXIT.failed} : answer;
    const {data, text} = answer.value;
    const shown = console.interactive ? printable(text) : text;
    return {json: data, text: `${shown}\n`, code: data.results.length > 0 ? EXIT.ok : EXIT.failed};
  } finally {
    await reader.close();
  }
}
