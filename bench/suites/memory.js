// The most memory that a page of 5 MB takes: what its process grows by, against a page of 5 KB.
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {createReadStream, statSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {converters, OURS, WHOLE} from '../converters.js';
import {inTemporaryDirectory} from '../in-temporary-directory.js';
import {grownPage, loadPages} from '../pages.js';

const PAGE = 5_000_000;
const SMALL = 5000;
/** The others take minutes for such a page. */
const NAMES = ['mdream (Rust)', '@mdream/js', 'html-to-markdown (Rust)', 'html-to-text (text)'];

export function measure({rounds}) {
  return inTemporaryDirectory(base => measureIn(base, Math.min(rounds, 5)));
}

async function measureIn(base, rounds) {
  const known = await converters(NAMES);
  const names = [WHOLE, OURS, ...NAMES.filter(name => name in known)];
  // Made here, so that what makes the page takes no memory there.
  const pages = loadPages();
  for (const size of [PAGE, SMALL]) writeFileSync(join(base, String(size)), grownPage(pages, size));
  const bytes = statSync(join(base, String(PAGE))).size;
  const server = await serve(base);
  const peakOf = async (name, size) => {
    const url = `http://127.0.0.1:${server.address().port}/${size}`;
    const of = join(import.meta.dirname, '../memory-of.js');
    const child = fork(of, [name, join(base, String(size)), url], {execArgv: []});
    const [{peak}] = await once(child, 'message');
    await once(child, 'exit');
    return peak;
  };
  const peaks = Object.fromEntries(names.map(name => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const least = await peakOf(name, SMALL);
      peaks[name].push(((await peakOf(name, PAGE)) - least) / 2 ** 20);
    }
  }
  server.close();
  const rows = Object.entries(peaks).map(([name, costs]) => ({name, costs}));
  const bars = [WHOLE, OURS].map(name => {
    const values = peaks[name].map(peak => (peak * 2 ** 20) / bytes);
    return {text: `${name}: times the page`, values, atMost: 6};
  });
  return {
    tables: [{title: 'peak for a page of 5 MB', unit: 'MB', rows, ours: OURS}],
    bars,
    remarks: ['Ours goes from bytes to counted chunks in a thread; the others make a string and Markdown.'],
  };
}

/** Files by their size. What else is asked for, robots.txt that is, is not there. */
async function serve(base) {
  const server = createServer((request, response) => {
    const file = join(base, request.url.slice(1));
    const size = statSync(file, {throwIfNoEntry: false})?.size;
    if (size === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {'Content-Type': 'text/html; charset=utf-8', 'Content-Length': size});
    createReadStream(file).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
