import {systemClock, timestamp} from '../../src/core/clock.ts';
import {openDiskCache} from '../../src/web/cache/disk-cache.ts';

/** Run as a process of its own: fills the cache in argv[2] without end, until it is killed, a line for each write. */
const [, , directory = ''] = process.argv;
const cache = openDiskCache({
  directory,
  ttlDays: 7,
  maxEntries: 12,
  maxBytes: 2 ** 30,
  clock: systemClock,
  log: event => process.stderr.write(`${JSON.stringify(event)}\n`),
});

for (let turn = 0; ; turn += 1) {
  const url = `https://example.com/${turn % 20}`;
  await cache.write({
    canonical_url: url,
    rendering_method: 'http',
    fetched_at: timestamp(systemClock.now()),
    notes: [],
    // Says of itself whose page it is, and whether it is whole.
    extracted: {markdown: `${url}\n`.repeat(2000 + (turn % 7)), title: String(2000 + (turn % 7))},
  });
  await cache.read(`https://example.com/${(turn * 7) % 20}`, 'http');
  process.stdout.write(`${turn}\n`);
}
