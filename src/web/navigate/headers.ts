// Headers that say what is accepted, and what a server says of the use of a page.

import type {WebFetchOptions} from '../options.ts';
import type {ExtraMedia, HeaderMap, UsagePreference} from '../page.ts';

const TYPES: readonly (readonly [media: ExtraMedia, types: string])[] = [
  ['json', 'application/json;q=0.7'],
  ['feed', 'application/atom+xml;q=0.7,application/rss+xml;q=0.7'],
  ['pdf', 'application/pdf;q=0.7'],
];

/** Ruling R3: Markdown is asked for first, then HTML and plain text, then what else is read. */
export function acceptHeader(accepts: ReadonlySet<ExtraMedia>): string {
  const others = TYPES.filter(([media]) => accepts.has(media)).map(([, types]) => types);
  return [
    ...(accepts.has('markdown') ? ['text/markdown'] : []),
    'text/html;q=0.9,application/xhtml+xml;q=0.9,text/plain;q=0.8',
    ...others,
    '*/*;q=0.1',
  ].join(',');
}

/** A field of this length names a version in Markdown near its start, or not for us. */
const MOST_CHARACTERS = 8192;
const LINK = /<([^<>]{1,2048})>((?:\s*;\s*[\w!#$%&'*+.^`|~-]+(?:\s*=\s*(?:"[^"]*"|[^\s";,]+))?)*)/g;
const PARAMETER = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"([^"]*)"|([^\s";,]+))/g;

/** Ruling R3: what `Link: <...>; rel="alternate"; type="text/markdown"` names (RFC 8288). */
export function linkedMarkdown(headers: HeaderMap): string | undefined {
  return linkTarget(headers, 'alternate', 'text/markdown');
}

/** RSL: what `Link: <...>; rel="license"; type="application/rsl+xml"` names. */
function linkedLicense(headers: HeaderMap): string | undefined {
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

interface Said {
  readonly robots: readonly UsagePreference[];
  readonly headers: HeaderMap;
  /** The licence that the page names. */
  readonly license: string | undefined;
}

const HEADERS = ['Content-Usage', 'Content-Signal'] as const;
/** Longer or unreadable values are not recorded. */
const VALUE = /^[\x20-\x7e]{1,512}$/;

/** What a site says of the use of a page, wherever it says so. */
export function usagePreferences({robots, headers, license}: Said): readonly UsagePreference[] {
  const all: readonly UsagePreference[] = [
    ...HEADERS.map(name => ({
      source: 'http' as const,
      name,
      value: headers.get(name.toLowerCase())?.join(', ') ?? '',
    })),
    {source: 'http', name: 'License', value: linkedLicense(headers) ?? ''},
    {source: 'html', name: 'License', value: license ?? ''},
    ...robots,
  ];
  return all.filter(({value}) => VALUE.test(value));
}

/** Ruling C5: what `web_fetch` reads beside HTML and plain text. */
export function defaultMedia({http}: Pick<WebFetchOptions, 'http'>): ReadonlySet<ExtraMedia> {
  return new Set(http.accept_markdown ? ['markdown'] : []);
}
