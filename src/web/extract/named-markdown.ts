/** Where a head ends, if not before; a page may have megabytes behind it. */
const HEAD_UNITS = 65_536;
const LINK =
  /<!--[\s\S]*?(?:-->|$)|<(?:script|style|template|noscript)\b[\s\S]*?(?:<\/|$)|<link\b([^>]{0,4096})>/gi;
const ATTRIBUTE = /([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

/** Ruling R3: what `<link rel="alternate" type="text/markdown" href="...">` of a page names. */
export function namedMarkdown(html: string): string | undefined {
  const head = html.slice(0, HEAD_UNITS);
  if (!head.includes('text/markdown')) return undefined;
  for (const [, written] of head.matchAll(LINK)) {
    if (written === undefined) continue;
    const named = new Map<string, string>();
    for (const [, name = '', double, single, plain = ''] of written.matchAll(ATTRIBUTE)) {
      const key = name.toLowerCase();
      if (!named.has(key)) named.set(key, (double ?? single ?? plain).trim());
    }
    const relations = named.get('rel')?.toLowerCase().split(/\s+/) ?? [];
    if (!relations.includes('alternate') || named.get('type')?.toLowerCase() !== 'text/markdown') continue;
    const href = named.get('href');
    if (href) return href.replaceAll('&amp;', '&');
  }
  return undefined;
}
