// Reads `[[tools.websearch.engines]]` at start-up, with the keys that the entries name.

import {ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import {readCredentials} from '../navigate/credentials.ts';
import type {WebSearchOptions} from '../options.ts';
import {ENGINE_KINDS} from './engines.ts';
import type {SearchEngine} from './search-web.ts';

const KEY = 'tools.websearch.engines';

/** The error holds every problem that stops start-up; no key is in one. */
export function readEngines(
  entries: WebSearchOptions['engines'],
  places: Parameters<typeof readCredentials>[1],
): Result<readonly SearchEngine[], readonly string[]> {
  const problems: string[] = [];
  const engines = entries.map((settings, index): SearchEngine => {
    const {kind, env, file} = settings;
    const at = `${KEY}[${index}]`;
    const known = ENGINE_KINDS[kind];
    const endpoint = settings.endpoint === '' ? (known.endpoint ?? '') : settings.endpoint;
    const url = toUrl(endpoint);
    const name = settings.name === '' ? kind : settings.name;
    const engine = {name, settings: {...settings, endpoint}, credential: undefined};
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '') {
      problems.push(
        `Expected ${at}.endpoint to be an http or https address, such as "https://search.example.com/search", got "${endpoint}".`,
      );
      return engine;
    }
    if (kind === 'google' && settings.engine_id === '')
      problems.push(`${at} has no engine_id. Write the cx of the search engine there.`);
    if (env === '' && file === '') return engine;
    if (url.protocol !== 'https:') {
      problems.push(`${at} has a key, and its endpoint is not https. A key is sent over https only.`);
      return engine;
    }
    const {header, prefix} = known;
    const read = readCredentials([{host: url.host, header, prefix, env, file}], places, at);
    // It numbers a list; here is one entry.
    problems.push(...read.problems.map(problem => problem.replaceAll(`${at}[0]`, at)));
    return {...engine, credential: read.credentials[0]};
  });
  return problems.length > 0 ? {ok: false, error: problems} : ok(engines);
}
