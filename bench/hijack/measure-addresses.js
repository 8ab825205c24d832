// What the check of addresses costs, and how often it takes a real link for private text.
// usage: node bench/hijack/measure-addresses.js [DIRECTORY OF HTML PAGES...]
import {readdirSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {loadOurs} from '../load.js';

const MEGABYTE = 1_000_000;
const {PrivateText} = await loadOurs('runtime/taint/private-text.js');
const {KnownAddresses} = await loadOurs('runtime/taint/check-address.js');
const {checkAddress} = await loadOurs('runtime/taint/check-address.js');
const root = join(import.meta.dirname, '../..');
const pages = process.argv.slice(2);

/** Text of a developer's tree: this one's sources and docs, then what it is built from. */
function* privateFiles() {
  for (const place of ['src', 'docs', 'test', 'bench', 'scripts', 'node_modules']) {
    for (const path of readdirSync(join(root, place), {recursive: true})) {
      if (!/\.(?:ts|js|md|json|txt)$/.test(path)) continue;
      const file = join(root, place, path);
      if (statSync(file).isFile()) yield readFileSync(file, 'utf8');
    }
  }
}

const index = new PrivateText();
// As in a run: the addresses in files are the user's own.
const known = new KnownAddresses();
let taken = 0;
let at = 0;
let addLinksMs = 0;
const took = process.hrtime.bigint();
for (const text of privateFiles()) {
  if (taken >= 10 * MEGABYTE) break;
  const part = text.slice(0, 10 * MEGABYTE - taken);
  await index.add(part, at);
  addLinksMs -= performance.now();
  known.addLinks(part);
  addLinksMs += performance.now();
  taken += part.length;
  at += 1;
}
const ms = Number(process.hrtime.bigint() - took) / 1e6;
console.log(
  `${(taken / MEGABYTE).toFixed(1)} MB of ${at} files taken in: ${(ms - addLinksMs).toFixed(0)} ms, links ${addLinksMs.toFixed(0)} ms, full: ${index.isFull}, ${(process.memoryUsage().arrayBuffers / MEGABYTE).toFixed(0)} MB of tables`,
);

const links = new Set();
for (const place of pages) {
  for (const name of readdirSync(place)) {
    if (!/\.html?(?:\.gz)?$/.test(name)) continue;
    const bytes = readFileSync(join(place, name));
    const html = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    for (const [, href] of html.matchAll(/href="(https?:\/\/[^"]{8,500})"/g)) {
      links.add(href.replaceAll('&amp;', '&'));
    }
  }
}
const all = [...links].filter(link => URL.canParse(link)).slice(0, 10_000);
const times = [];
const misjudged = [];
let unsure = 0;
for (const link of all) {
  const begun = process.cpuUsage();
  const found = checkAddress(link, known, index);
  const {user, system} = process.cpuUsage(begun);
  times.push((user + system) / 1000);
  if (found.kind !== 'made-up' || found.match === undefined) continue;
  unsure += 1;
  if (found.match.isSure) misjudged.push(`${link}  (${found.match.words})`);
}
times.sort((one, other) => one - other);
const quantile = share => times[Math.min(times.length - 1, Math.floor(share * times.length))]?.toFixed(3);
console.log(
  `${all.length} links, CPU time: median ${quantile(0.5)} ms, 99 % ${quantile(0.99)} ms, longest ${quantile(1)} ms`,
);
console.log(
  `taken for private: ${misjudged.length} (${((100 * misjudged.length) / Math.max(1, all.length)).toFixed(2)} %), with words in common: ${unsure}`,
);
for (const line of misjudged.slice(0, 40)) console.log(`  ${line.slice(0, 200)}`);
