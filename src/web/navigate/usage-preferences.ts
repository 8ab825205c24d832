import type {HeaderMap, UsagePreference} from '../page.ts';
import {linkedLicense} from './link-header.ts';

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
