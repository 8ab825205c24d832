// Converts one page in a process that has converted none, and tells the parent how long that took.
// usage: node first-page.js CONTENDER FILE
import {readFileSync} from 'node:fs';
import {CHUNKED, CHUNKED_LATER, forgeTools, mdreamJs, mdreamRust, OURS} from './converters.js';
import {loadOurs} from './load.js';

/** What each loads is loaded before the clock starts: that is the matter of `startup`. */
const CONTENDERS = {
  [OURS]: forgeTools,
  [CHUNKED]: chunked,
  [CHUNKED_LATER]: chunkedLater,
  'mdream (Rust)': () => mdreamRust({}),
  '@mdream/js': mdreamJs,
};

const [contender, file] = process.argv.slice(2);
const html = readFileSync(file, 'utf8');
const convert = await CONTENDERS[contender]();
const start = performance.now();
convert?.(html);
const ms = performance.now() - start;
process.send({ms: convert ? ms : undefined}, () => process.exit(0));

/** With exact counts, so that the vocabulary is read too. */
async function chunked() {
  const ours = await forgeTools();
  const {countTokens} = await loadOurs('web/tokens/count-tokens.js');
  const {chunkMarkdown} = await loadOurs('web/chunk/plan-chunks.js');
  return page => chunkMarkdown(ours(page), 600, countTokens);
}

/** With what the command line tells V8. */
async function chunkedLater() {
  const {compileLater} = await loadOurs('web/convert/compile-later.js').catch(() => ({}));
  if (compileLater === undefined) return undefined;
  compileLater();
  return chunked();
}
