// The most memory that a page of 5 MB takes: what its process grows by, against a page of 5 KB.
import {fork} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {converters, OURS} from '../converters.js';
import {grownPage, loadPages} from '../pages.js';

const PAGE = 5_000_000;
const SMALL = 5000;
/** The others take minutes for such a page. */
const NAMES = [OURS, 'mdream (Rust)', '@mdream/js', 'html-to-markdown (Rust)', 'html-to-text (text)'];

export async function measure({rounds}) {
  const base = mkdtempSync(join(tmpdir(), 'forge-bench-'));
  try {
    return await measureIn(base, Math.min(rounds, 3));
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}

async function measureIn(base, rounds) {
  const known = await converters();
  const names = NAMES.filter(name => name in known);
  // Made here, so that what makes the page takes no memory there.
  const pages = loadPages();
  const [page, small] = [PAGE, SMALL].map(size => {
    const file = join(base, `${size}.html`);
    writeFileSync(file, grownPage(pages, size));
    return file;
  });
  const peaks = Object.fromEntries(names.map(name => [name, []]));
  const shares = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const least = await measureOne(name, small);
      const most = await measureOne(name, page);
      const grown = most.peak - least.peak;
      peaks[name].push(grown / 2 ** 20);
      if (name === OURS) shares.push(grown / most.bytes);
    }
  }
  const rows = Object.entries(peaks).map(([name, costs]) => ({name, costs}));
  return {
    tables: [{title: 'peak for a page of 5 MB', unit: 'MB', rows, ours: OURS}],
    bars: [{text: 'peak: times the page', values: shares, atMost: 12}],
    remarks: ['Ours goes from bytes to counted chunks in a thread; the others make a string and Markdown.'],
  };
}

async function measureOne(name, file) {
  const child = fork(join(import.meta.dirname, '../memory-of.js'), [name, file], {execArgv: []});
  const [answer] = await once(child, 'message');
  await once(child, 'exit');
  return answer;
}
