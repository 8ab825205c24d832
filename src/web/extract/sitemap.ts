// Reads a sitemap, or an index of sitemaps.

export interface Sitemap {
  /** Whether its addresses are those of further sitemaps. */
  readonly isIndex: boolean;
  readonly urls: readonly string[];
  /** Whether there were more than it may have. */
  readonly cut: boolean;
}

/** sitemaps.org: no sitemap has more. */
const MOST_URLS = 50_000;
/** sitemaps.org: a `loc` has less than 2,048 characters. */
const MOST_UNITS = 2048;

const ENTITIES: Readonly<Record<string, string>> = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};

/**
 * The addresses of a sitemap, in XML or a line each, whatever else it holds. No entity is declared here, nothing is
 * included, and elements need not fit: it is scanned once, from its start to its end.
 */
export function parseSitemap(text: string): Sitemap {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  return /^\s*</.test(body.slice(0, 1024)) ? parseXml(body) : parseLines(body);
}

/** What a robots.txt names as its sitemaps: the records belong to no group. */
export function sitemapsOfRobots(text: string, most: number): readonly string[] {
  const found = new Set<string>();
  for (const line of text.split(/[\r\n]+/)) {
    const [, value] = /^\ufeff?[ \t]*sitemap[ \t]*:[ \t]*([^ \t#]{1,2048})/i.exec(line.slice(0, 4096)) ?? [];
    if (value !== undefined) found.add(value);
    if (found.size >= most) break;
  }
  return [...found];
}

function parseLines(text: string): Sitemap {
  const urls: string[] = [];
  let cut = false;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const line = end - start <= MOST_UNITS ? text.slice(start, end).trim() : '';
    start = end + 1;
    if (line === '') continue;
    cut = urls.length >= MOST_URLS;
    if (cut) break;
    urls.push(line);
  }
  return {isIndex: false, urls, cut};
}

/** What may stand in front of an address, by how it starts and how it ends. */
const SKIPPED: readonly (readonly [start: string, end: string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
];

/** Other names are not read to their end. No attribute has a `<`, so no text is looked at for two tags. */
const TAG = /<(?:[\w.-]{1,64}:)?(loc|sitemapindex)(?:[\s/][^<>]{0,1000})?>/iy;

function parseXml(text: string): Sitemap {
  const urls: string[] = [];
  let isIndex = false;
  let cut = false;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const skipped = SKIPPED.find(([start]) => text.startsWith(start, at));
    if (skipped !== undefined) {
      const end = text.indexOf(skipped[1], at);
      if (end === -1) break;
      at = end + skipped[1].length;
      continue;
    }
    TAG.lastIndex = at;
    const [tag, name] = TAG.exec(text) ?? [];
    if (tag === undefined) {
      at += 1;
      continue;
    }
    at += tag.length;
    if (name?.toLowerCase() === 'sitemapindex') {
      isIndex ||= urls.length === 0;
      continue;
    }
    if (tag.endsWith('/>')) continue;
    cut = urls.length >= MOST_URLS;
    if (cut) break;
    const url = content(text, at);
    if (url !== undefined && url !== '') urls.push(url);
  }
  return {isIndex, urls, cut};
}

/** The text of a `loc` that begins at `at`. */
function content(text: string, at: number): string | undefined {
  const window = text.slice(at, at + MOST_UNITS + 64);
  const [, quoted] = /^\s*<!\[CDATA\[([^\]<>]*)\]\]>\s*</.exec(window) ?? [];
  if (quoted !== undefined) return quoted.trim();
  const end = window.indexOf('<');
  if (end === -1 || end > MOST_UNITS) return undefined;
  return window
    .slice(0, end)
    .trim()
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,4}));/gi, decoded);
}

function decoded(written: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name] ?? written;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : written;
}
