// Exact cl100k_base counts: warm, with cleared caches, and of the shapes that make counters slow.
import {corpora, hostileTexts} from '../corpora.js';
import {loadOurs, loadPeer} from '../load.js';
import {alternate, ratios} from '../measure.js';

const OURS = 'forge-tools';
const WASM = 'tiktoken (wasm)';
const MIB = 2 ** 20;

export async function measure({rounds}) {
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const gpt = await loadPeer('gpt-tokenizer/encoding/cl100k_base');
  const {get_encoding} = await loadPeer('tiktoken');
  const wasm = get_encoding('cl100k_base');
  const tables = [];
  const bars = [];
  for (const cleared of [false, true]) {
    for (const [kind, text] of Object.entries(corpora())) {
      const contenders = {
        [OURS]: () => countTokens(text),
        'gpt-tokenizer': () => gpt.countTokens(text),
        [WASM]: () => wasm.encode_ordinary(text).length,
      };
      agree(contenders, kind);
      const before = cleared ? () => clear(countTokens, gpt) : undefined;
      const costs = await alternate(contenders, cleared ? 3 * rounds : rounds, {before});
      const bytes = Buffer.byteLength(text);
      const rows = Object.entries(costs).map(([name, ms]) => ({name, costs: ms, bytes}));
      tables.push({title: `${kind}, ${cleared ? 'caches cleared' : 'warm'}`, unit: 'MB/s', rows, ours: OURS});
      const what = cleared ? 'caches cleared before each pass' : 'warm';
      const values = ratios(costs[OURS], costs['gpt-tokenizer']);
      bars.push({text: `${kind}, ${what}: times gpt-tokenizer`, values, atLeast: cleared ? 1.5 : 4});
    }
  }
  const half = hostileTexts(MIB);
  const whole = hostileTexts(2 * MIB);
  const rows = [];
  for (const [kind, text] of Object.entries(half)) {
    const costs = await alternate({n: () => countTokens(text), '2n': () => countTokens(whole[kind])}, rounds);
    rows.push({name: kind, costs: costs.n});
    bars.push({text: `1 MiB of ${kind}, ms`, values: costs.n, atMost: 1000});
    bars.push({text: `1 MiB of ${kind}: t(2n)/t(n)`, values: ratios(costs.n, costs['2n']), atMost: 2.6});
  }
  tables.push({title: 'hostile, 1 MiB of', rows});
  return {tables, bars, remarks: ['Every contender counts the same number of tokens, or the suite stops.']};
}

/** Our cache starts afresh when it is full, so as many new pieces as it holds push everything else out. */
function clear(countTokens, gpt) {
  gpt.clearMergeCache();
  fresh += 1;
  const pieces = Array.from({length: 40_000}, (_, at) => ` ${letters(at)}x${letters(fresh)}`);
  countTokens(pieces.join(''));
}

let fresh = 0;

function letters(number) {
  return number.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[Number(digit)]);
}

function agree(contenders, kind) {
  const counts = new Set(Object.values(contenders).map(count => count()));
  if (counts.size > 1) throw new Error(`The counters disagree about ${kind}: ${[...counts].join(', ')}.`);
}
