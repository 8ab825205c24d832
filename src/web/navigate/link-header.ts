import type {HeaderMap} from '../page.ts';

/** A field of this length names a version in Markdown near its start, or not for us. */
const MOST_CHARACTERS = 8192;
const LINK = /<([^<>]{1,2048})>((?:\s*;\s*[\w!#$%&'*+.^`|~-]+(?:\s*=\s*(?:"[^"]*"|[^\s";,]+))?)*)/g;
const PARAMETER = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"([^"]*)"|([^\s";,]+))/g;

/** Ruling R3: what `Link: <...>; rel="alternate"; type="text/markdown"` names (RFC 8288). */
export function linkedMarkdown(headers: HeaderMap): string | undefined {
  return linkTarget(headers, 'alternate', 'text/markdown');
}

/** RSL: what `Link: <...>; rel="license"; type="application/rsl+xml"` names. */
export function linkedLicense(headers: HeaderMap): string | undefined {
  return linkTarget(headers, 'license', 'application/rsl+xml');
}

function linkTarget(headers: HeaderMap, relation: string, type: string): string | undefined {
  const field = (headers.get('link') ?? []).join(', ').slice(0, MOST_CHARACTERS);
  for (const [, target, parameters = ''] of field.matchAll(LINK)) {
    const named = new Map(
      [...parameters.matchAll(PARAMETER)].map(([, name = '', quoted, plain = '']) => [
        name.toLowerCase(),
        (quoted ?? plain).trim().toLowerCase(),
      ]),
    );
    const relations = named.get('rel')?.split(/\s+/) ?? [];
    if (relations.includes(relation) && named.get('type') === type) return target;
  }
  return undefined;
}
