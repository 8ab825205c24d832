import type {HeaderMap} from '../page.ts';

/** A field of this length names a version in Markdown near its start, or not for us. */
const MOST_CHARACTERS = 8192;
const LINK = /<([^<>]{1,2048})>((?:\s*;\s*[\w!#$%&'*+.^`|~-]+(?:\s*=\s*(?:"[^"]*"|[^\s";,]+))?)*)/g;
const PARAMETER = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"([^"]*)"|([^\s";,]+))/g;

/** Ruling R3: what `Link: <...>; rel="alternate"; type="text/markdown"` names (RFC 8288). */
export function linkedMarkdown(headers: HeaderMap): string | undefined {
  const field = (headers.get('link') ?? []).join(', ').slice(0, MOST_CHARACTERS);
  for (const [, target, parameters = ''] of field.matchAll(LINK)) {
    const named = new Map(
      [...parameters.matchAll(PARAMETER)].map(([, name = '', quoted, plain = '']) => [
        name.toLowerCase(),
        (quoted ?? plain).trim().toLowerCase(),
      ]),
    );
    const relations = named.get('rel')?.split(/\s+/) ?? [];
    if (relations.includes('alternate') && named.get('type') === 'text/markdown') return target;
  }
  return undefined;
}
