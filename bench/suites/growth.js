// How the time of the whole, HTML to chunks, grows with the page, and that of each stage.
import {forgeTools} from '../converters.js';
import {loadOurs} from '../load.js';
import {alternate, ratios} from '../measure.js';
import {grownPage, loadPages} from '../pages.js';

const MAX_TOKENS = 600;
const SIZES = {'10 KB': 1e4, '100 KB': 1e5, '1 MB': 1e6, '10 MB': 1e7};

export async function measure({rounds}) {
  const extract = await forgeTools();
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const {chunkMarkdown} = await loadOurs('web/chunk/plan-chunks.js');
  const pages = loadPages();
  const html = Object.fromEntries(
    Object.entries(SIZES).map(([name, size]) => [name, grownPage(pages, size)]),
  );
  const markdown = Object.fromEntries(Object.entries(html).map(([name, page]) => [name, extract(page)]));
  const stages = {
    whole: name => chunkMarkdown(extract(html[name]), MAX_TOKENS, countTokens),
    'of it extract': name => extract(html[name]),
    'of it chunk and count': name => chunkMarkdown(markdown[name], MAX_TOKENS, countTokens),
  };
  const tables = [];
  const growth = {};
  for (const [stage, work] of Object.entries(stages)) {
    const contenders = Object.fromEntries(Object.keys(SIZES).map(name => [name, () => work(name)]));
    const costs = await alternate(contenders, rounds, {sampleMs: 200});
    const rows = Object.entries(costs).map(([name, ms]) => ({
      name,
      costs: ms,
      bytes: Buffer.byteLength(html[name]),
    }));
    tables.push({title: stage, unit: 'MB/s', rows});
    growth[stage] = ratios(costs['1 MB'], costs['10 MB']).map(times => times / exactFactor(html));
  }
  // The pages are whole paragraphs long, so ten times is not exactly ten times.
  const bars = [{text: 'whole, 1 MB to 10 MB: times', values: growth.whole.map(one => 10 * one), atMost: 11}];
  return {tables, bars, remarks: ['MB/s of HTML in each row; a constant rate is linear growth.']};
}

function exactFactor(html) {
  return html['10 MB'].length / html['1 MB'].length;
}
