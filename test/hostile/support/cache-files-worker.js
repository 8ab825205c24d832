// One process of the tests of the cache's files; it works with the built cache.
// usage: node cache-files-worker.js kill DIRECTORY K | share DIRECTORY SEED TURNS | vandal DIRECTORY SEED TURNS
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';

const [mode, directory, first, second] = process.argv.slice(2);
const say = value => fs.writeSync(1, `${JSON.stringify(value)}\n`);
const START = Date.parse('2026-01-10T12:00:00.000Z');

/** A page that says of itself which URL and version it is, in every line. */
const pageOf = (url, version) => ({
  canonical_url: url,
  rendering_method: 'http',
  fetched_at: new Date(START).toISOString(),
  notes: [],
  extracted: {markdown: `${url} version ${version}\n`.repeat(80 + version), title: `${url} ${version}`},
});
const isWhole = (url, entry) => {
  const version = Number(entry.extracted.title?.split(' ').at(-1));
  return JSON.stringify(entry.extracted) === JSON.stringify(pageOf(url, version).extracted);
};

const logs = [];
async function openCache(maxEntries, now = () => START) {
  const {openDiskCache} = await import('../../../dist/web/cache/disk-cache.js');
  const clock = {now, monotonic: () => performance.now(), after: () => () => {}};
  const log = event => logs.push(event);
  return openDiskCache({directory, ttlDays: 7, maxEntries, maxBytes: 2 ** 24, clock, log});
}

/** Calls `step` before everything that the cache asks of the file system. To write a file is four steps. */
async function countSteps(step) {
  const original = {...fsPromises};
  for (const name of ['lstat', 'mkdir', 'readdir', 'rm', 'rename', 'copyFile', 'open']) {
    fsPromises[name] = (...args) => {
      step(name);
      return original[name](...args);
    };
  }
  const probe = await original.open('/dev/null');
  const handles = Object.getPrototypeOf(probe);
  await probe.close();
  for (const name of ['read', 'write', 'stat']) {
    const work = handles[name];
    handles[name] = function (...args) {
      step(`handle.${name}`);
      return work.apply(this, args);
    };
  }
  handles.writeFile = async function (data) {
    const half = data.length >> 1;
    step('first half');
    await this.writev([data.subarray(0, half)]);
    step('second half');
    await this.writev([data.subarray(half)]);
    step('close');
  };
  syncBuiltinESMExports();
}

async function lifeAndDeath(k) {
  const steps = [];
  await countSteps(name => {
    steps.push(name);
    if (steps.length === k) process.kill(process.pid, 'SIGKILL');
  });
  const urls = 'abcdef'.split('').map(name => `https://example.com/${name}`);
  const [a, b, c, d, e, f] = urls;
  const write = async (cache, url, version) => {
    say({writes: url, version});
    say({wrote: url, version, ok: await cache.write(pageOf(url, version))});
  };
  const read = async (cache, url) => {
    const entry = await cache.read(url, 'http');
    if (entry !== undefined && !isWhole(url, entry)) say({wrong: url});
  };
  const cache = await openCache(3);
  await read(cache, a);
  await write(cache, a, 1);
  await read(cache, a);
  await write(cache, a, 2);
  for (const url of [b, c, d]) await write(cache, url, 1);
  await read(cache, c);
  const other = await openCache(3, () => START + 1000);
  await write(other, e, 1);
  await write(cache, b, 2);
  // A journal that is due to be begun anew, and what a dead writer left, for the next to find.
  fs.appendFileSync(join(directory, 'changes.log'), `deadbeef ${'0'.repeat(64)}\n`.repeat(15_000));
  const shard = join(
    directory,
    fs.readdirSync(directory).find(name => /^[0-9a-f]{2}$/.test(name)),
  );
  const left = join(shard, `${'0'.repeat(64)}.tmp.00`);
  fs.writeFileSync(left, 'x');
  fs.utimesSync(left, 1, 1);
  const third = await openCache(3, () => START + 2000);
  await write(third, f, 1);
  await read(third, b);
  say({steps, logs});
}

/** A small generator, so that a failure can be had again. */
function random(seed) {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

async function share(seed, turns) {
  const pick = random(seed);
  const cache = await openCache(12, Date.now);
  const wrong = [];
  let hits = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const url = `https://example.com/${pick(20)}`;
    if (pick(3) === 0) await cache.write({...pageOf(url, pick(50)), fetched_at: new Date().toISOString()});
    const other = `https://example.com/${pick(20)}`;
    const entry = await cache.read(other, 'http');
    if (entry === undefined) continue;
    hits += 1;
    if (!isWhole(other, entry)) wrong.push(other);
  }
  say({wrong, hits, logs: [...new Set(logs.map(({message}) => message))]});
}

/** Does to the directory what only its owner can, again and again. */
async function vandal(seed, turns) {
  const pick = random(seed);
  const attempt = work => {
    try {
      work();
    } catch {}
  };
  const entries = () =>
    fs.readdirSync(directory, {recursive: true}).filter(name => String(name).endsWith('.json'));
  const deeds = [
    path => fs.truncateSync(path, pick(500)),
    path => fs.rmSync(path, {recursive: true}),
    path => fs.writeFileSync(path, Buffer.alloc(3000, pick(256))),
    path => {
      fs.rmSync(path);
      fs.symlinkSync('/etc/hostname', path);
    },
    path => {
      fs.rmSync(path);
      fs.mkdirSync(join(path, 'inside'), {recursive: true});
    },
    path => fs.copyFileSync(path, join(directory, String(entries()[0]))),
    () => fs.truncateSync(join(directory, 'changes.log'), pick(200)),
    () => fs.rmSync(join(directory, 'changes.log'), {recursive: true}),
    () => fs.mkdirSync(join(directory, 'changes.log')),
    () => fs.rmSync(directory, {recursive: true, force: true}),
  ];
  for (let turn = 0; turn < turns; turn += 1) {
    attempt(() => {
      const all = entries();
      const deed = deeds[pick(deeds.length)];
      deed(join(directory, String(all[pick(all.length || 1)])));
    });
    await new Promise(resolve => setTimeout(resolve, 3));
  }
  say({done: true});
}

if (mode === 'kill') await lifeAndDeath(Number(first));
else if (mode === 'share') await share(Number(first), Number(second));
else await vandal(Number(first), Number(second));
