// Documents made to be slow to chunk: 5 MB of each shape, and what doubling it does.
import {randomFrom} from '../corpora.js';
import {loadOurs} from '../load.js';
import {alternate, ratios} from '../measure.js';

const UNITS = 2_500_000;
const MAX_TOKENS = 600;

export async function measure({rounds}) {
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const {chunkMarkdown} = await loadOurs('web/chunk/plan-chunks.js');
  const rows = [];
  const bars = [];
  for (const [name, shape] of Object.entries(SHAPES)) {
    const [half, whole] = [shape(UNITS), shape(2 * UNITS)];
    const costs = await alternate(
      {
        half: () => chunkMarkdown(half, MAX_TOKENS, countTokens),
        whole: () => chunkMarkdown(whole, MAX_TOKENS, countTokens),
      },
      Math.min(rounds, 3),
    );
    rows.push({name, costs: costs.whole});
    bars.push({text: `${name}: t(2n)/t(n)`, values: ratios(costs.half, costs.whole), atMost: 2.6});
  }
  return {tables: [{title: 'chunking 5 MB of', rows}], bars};
}

const repeated = text => units => text.repeat(Math.ceil(units / text.length)).slice(0, units);
const drawn = alphabet => units => {
  const random = randomFrom(5);
  const parts = [];
  for (let at = 0; at < units; at += 1) parts.push(alphabet[Math.floor(random() * alphabet.length)]);
  return parts.join('');
};

const SHAPES = {
  'one letter': repeated('a'),
  'random letters': drawn('abcdefghijklmnopqrstuvwxyz'),
  'words in one line': drawn('abcdefghijklmn '),
  spaces: units => `x${' '.repeat(units)}x`,
  Han: units => drawn(Array.from({length: 3000}, (_, at) => String.fromCharCode(0x4e00 + at)))(units),
  base64: drawn('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
  emoji: repeated('😀'),
  digits: repeated('1234567890'),
  'full stops': repeated('.'),
  'one-letter words': repeated('a '),
  'one-letter lines': repeated('a\n'),
  'one-letter paragraphs': repeated('a\n\n'),
  'one-letter items': repeated('- a\n'),
  headings: repeated('# a\n'),
  'line of code': units => `\`\`\`\n${'x'.repeat(units)}\n\`\`\``,
  'lines of code': units => `\`\`\`\n${repeated('x = 1\n')(units)}\n\`\`\``,
  'fence of blank lines': units => `\`\`\`\nx${'\n'.repeat(units)}x\n\`\`\``,
  'open fences': repeated('```\n'),
  'fence marks in a line': repeated('`'),
  'nested items': repeated('- '),
  'item with blank lines': units => `- x\n${repeated('\n  y')(units)}`,
  'one item of words': units => `- ${repeated('word ')(units)}`,
  'one item of code': units => `- \`\`\`\n${repeated('  x = 1\n')(units)}`,
};
