// Opens caches in the directories below one, as the user "nobody", and reads and writes one page in each.
// usage, as root and with dist/ built: node cache-files-stranger.js DIRECTORY URL NAME...
import {join} from 'node:path';
import {openDiskCache} from '../../../dist/web/cache/disk-cache.js';

const [directory, url, ...names] = process.argv.slice(2);
process.setgroups([]);
process.setgid(65_534);
process.setuid(65_534);
const now = Date.parse('2026-01-10T12:00:00.000Z');
const page = {
  canonical_url: url,
  rendering_method: 'http',
  fetched_at: new Date(now).toISOString(),
  notes: [],
  extracted: {markdown: 'ours'},
};
const answers = {};
for (const name of names) {
  const logs = [];
  const cache = openDiskCache({
    directory: join(directory, name),
    ttlDays: 7,
    maxEntries: 10,
    maxBytes: 1e6,
    clock: {now: () => now, monotonic: () => 0, after: () => () => {}},
    log: ({event, message}) => logs.push(event === 'cache_disabled' ? message : event),
  });
  const textOf = entry => entry?.extracted.markdown ?? null;
  const before = textOf(await cache.read(url, 'http'));
  const written = await cache.write(page);
  answers[name] = {before, written, after: textOf(await cache.read(url, 'http')), logs: [...new Set(logs)]};
}
process.stdout.write(JSON.stringify(answers));
