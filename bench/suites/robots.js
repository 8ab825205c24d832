// A robots.txt at the size limit: 500 KiB with 19,000 rules, parsed and asked about URLs.
import {randomFrom} from '../corpora.js';
import {loadOurs, loadPeer} from '../load.js';
import {alternate, ratios} from '../measure.js';

const BYTES = 500 * 1024;
const RULES = 19_000;
const URLS = 200;
const TOKEN = 'forge-webfetch';
const OURS = 'forge-tools';
const PEER = 'robots-parser';

export async function measure({rounds}) {
  const {parseRobots} = await loadOurs('web/robots/robots.js');
  const {isAllowedByRobots} = await loadOurs('web/robots/robots.js');
  const {default: robotsParser} = await loadPeer('robots-parser');
  const text = robotsText();
  const paths = askedPaths();
  const urls = paths.map(path => `https://bench.example${path}`);

  // The rules that speak to us, ready to be asked: what each does before the first answer.
  const parse = await alternate(
    {
      [OURS]: () => parseRobots(text).rulesFor(TOKEN),
      [PEER]: () => robotsParser('https://bench.example/robots.txt', text),
    },
    rounds,
  );
  const ours = parseRobots(text);
  const theirs = robotsParser('https://bench.example/robots.txt', text);
  const match = await alternate(
    {
      [OURS]: () => paths.map(path => isAllowedByRobots(ours, TOKEN, path)),
      [PEER]: () => urls.map(url => theirs.isAllowed(url, TOKEN)),
    },
    rounds,
  );
  const differing = paths.filter((path, at) => {
    return isAllowedByRobots(ours, TOKEN, path) !== theirs.isAllowed(urls[at], TOKEN);
  });
  return {
    tables: [
      {title: 'parse', rows: rowsOf(parse), ours: OURS},
      {title: 'match', unit: 'URLs/s', rows: rowsOf(match, URLS), ours: OURS},
    ],
    bars: [
      {text: `parse: times ${PEER}'s time`, values: ratios(parse[PEER], parse[OURS]), atMost: 1},
      {text: `match: times ${PEER}'s URLs/s`, values: ratios(match[OURS], match[PEER]), atLeast: 10},
    ],
    remarks: [
      `${text.length} bytes, ${RULES} rules, one in ten with a wildcard; ${URLS} URLs, ` +
        `of which the two decide ${differing.length} differently.`,
    ],
  };
}

function rowsOf(costs, calls) {
  return Object.entries(costs).map(([name, ms]) => ({name, costs: ms, ...(calls && {calls})}));
}

function robotsText() {
  const random = randomFrom(3);
  const lines = ['User-agent: *'];
  for (let rule = 0; rule < RULES; rule += 1) {
    const path = pathOf(random, rule);
    const wild = rule % 10 === 0 ? `/*${path.slice(6)}$` : path;
    lines.push(`${rule % 4 === 0 ? 'Allow' : 'Disallow'}: ${wild}`);
  }
  const text = `${lines.join('\n')}\n`;
  return text.length < BYTES ? `${text}${'#'.repeat(BYTES - text.length - 1)}\n` : text.slice(0, BYTES);
}

function pathOf(random, at) {
  const part = () => Math.floor(random() * 36 ** 3).toString(36);
  return `/${part()}/${part()}/${at.toString(36)}`;
}

/** Half of them paths that a rule is about, half of them not. */
function askedPaths() {
  const random = randomFrom(3);
  const ruled = Array.from({length: RULES}, (_, rule) => pathOf(random, rule));
  return Array.from({length: URLS}, (_, at) => {
    const path = ruled[(at * 89) % RULES];
    return at % 2 === 0 ? `${path}/page.html?id=${at}` : `/news${path}`;
  });
}
