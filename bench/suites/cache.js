// A hit in a cache of 10,000 pages, beside reading, parsing and rewriting that one file by hand.
import {mkdirSync, writeFileSync} from 'node:fs';
import {readFile, rename, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {corpora} from '../corpora.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {loadOurs} from '../load.js';
import {alternate, ratios, wallTime} from '../measure.js';

const ENTRIES = 10_000;
const FEW = 10;
const URL_READ = 'https://bench.example/article';
const HAND = 'by hand';
const WHOLE = 'forge-tools, web_fetch with chunks';
const HIT = 'forge-tools, look-up';

export function measure({rounds}) {
  return inTemporaryDirectory(base => measureIn(base, rounds));
}

async function measureIn(base, rounds) {
  const {cacheKey} = await loadOurs('web/cache/files.js');
  const {planChunks} = await loadOurs('web/chunk/plan-chunks.js');
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const {printEntry} = await loadOurs('web/cache/entry.js');
  const {entryPath} = await loadOurs('web/cache/files.js');
  const {openDiskCache} = await loadOurs('web/cache/disk-cache.js');
  const {systemClock} = await loadOurs('core/clock.js');
  const {createToolbox} = await loadOurs('index.js');
  const markdown = corpora().prose.slice(0, 50_000);
  // As a fetch leaves it there.
  const plan = planChunks(markdown, {maxTokens: 600, countTokens});

  const fill = (name, count) => {
    const directory = join(base, name);
    for (let at = 0; at < count; at += 1) {
      const url = at === 0 ? URL_READ : `${URL_READ}/${at}`;
      const path = entryPath(directory, cacheKey(url, 'http'));
      mkdirSync(dirname(path), {recursive: true, mode: 0o700});
      writeFileSync(path, printEntry(entryOf(url, at === 0 ? {markdown, plan} : {markdown: 'short'})));
    }
    const limits = {ttlDays: 7, maxEntries: ENTRIES, maxBytes: 2 ** 30};
    const cache = openDiskCache({directory, ...limits, clock: systemClock, log: () => {}});
    return {directory, cache};
  };
  const full = fill('full', ENTRIES);
  const small = fill('small', FEW);
  const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: full.directory}}}});
  const path = entryPath(full.directory, cacheKey(URL_READ, 'http'));
  const costs = await alternate(
    {
      [HAND]: () => rewriteByHand(path),
      [HIT]: async () => hit(await full.cache.read(URL_READ, 'http')),
      [`the same, ${FEW} entries there`]: async () => hit(await small.cache.read(URL_READ, 'http')),
      [WHOLE]: async () => {
        hit((await toolbox.webFetch({url: URL_READ})).value);
      },
    },
    3 * rounds,
    {clock: wallTime},
  );
  await toolbox.close();
  const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms}));
  return {
    tables: [{title: `a cached page of 50 KB, ${ENTRIES} entries there`, rows, ours: HIT}],
    bars: [
      {text: 'look-up: times the file by hand', values: ratios(costs[HAND], costs[HIT]), atMost: 2},
      {
        text: 'web_fetch, chunks planned: times the same',
        values: ratios(costs[HAND], costs[WHOLE]),
        atMost: 2,
      },
    ],
    remarks: ['By hand is what does the same: read, parse, write a temporary file, rename. No flush either.'],
  };
}

async function rewriteByHand(path) {
  const entry = JSON.parse(await readFile(path, 'utf8'));
  entry.last_accessed_at = new Date().toISOString();
  await writeFile(`${path}.tmp.0`, JSON.stringify(entry), {mode: 0o600});
  await rename(`${path}.tmp.0`, path);
}

function entryOf(url, {markdown, plan}) {
  const now = Date.now();
  return {
    canonical_url: url,
    rendering_method: 'http',
    fetched_at: new Date(now).toISOString(),
    expires_at: new Date(now + 86_400_000).toISOString(),
    last_accessed_at: new Date(now).toISOString(),
    notes: [],
    extracted: {markdown, title: 'Page'},
    plan,
  };
}

function hit(found) {
  if (!found) throw new Error('Expected a hit, got a miss.');
}
