import {describe, expect, test} from 'vitest';
import {resolveConfig} from './resolve/resolve-config.ts';

type Row = readonly [section: string, key: string, min: number, max: number, byDefault: number];

/** SRD 5.4 as it is printed there; the last row is ruling E7's. */
const ROWS: readonly Row[] = [
  ['', 'timeout_seconds', 1, 300, 20],
  ['', 'max_redirects', 0, 20, 5],
  ['', 'default_max_chunk_tokens', 128, 2048, 600],
  ['', 'cache_ttl_days', 1, 365, 7],
  ['', 'max_cache_entries', 0, 1_000_000, 10_000],
  ['', 'max_cache_bytes', 1_048_576, 1_099_511_627_776, 1_073_741_824],
  ['', 'max_download_bytes', 1024, 104_857_600, 5_242_880],
  ['', 'robots_cache_entries', 0, 100_000, 1024],
  ['', 'robots_cache_ttl_hours', 1, 720, 24],
  ['security', 'max_dns_attempts', 1, 10, 2],
  ['browser', 'network_idle_ms', 1000, 120_000, 20_000],
  ['browser', 'max_rendered_dom_bytes', 1024, 104_857_600, 5_242_880],
  ['browser', 'max_total_subresource_bytes', 1_048_576, 524_288_000, 20_971_520],
  ['rendering', 'min_extracted_chars', 0, 10_000, 400],
];

function resolved(section: string, key: string, value: number | undefined) {
  const table = value === undefined ? {} : {[key]: value};
  const webfetch = section === '' ? table : {[section]: table};
  const result = resolveConfig({tools: {webfetch}}, {env: {}, cwd: '/', tempDir: '/tmp'});
  if (!result.ok) throw new Error(result.error.join('\n'));
  const {config, warnings} = result.value;
  const settings: Readonly<Record<string, unknown>> = {...config.tools.webfetch};
  const holder: unknown = section === '' ? settings : settings[section];
  return {value: (holder as Readonly<Record<string, unknown>>)[key], warnings: warnings.length};
}

describe('SRD 5.4 the clamps of the configuration: one below, at, and one above either end', () => {
  test.each(ROWS)(
    'FR-WF-CFG-01 ruling A9 %s %s: %i to %i, by default %i',
    (section, key, min, max, byDefault) => {
      const read = (value?: number) => resolved(section, key, value);
      expect(read()).toEqual({value: byDefault, warnings: 0});
      expect([min - 1, min, min + 1].map(read)).toEqual([
        {value: min, warnings: 1},
        {value: min, warnings: 0},
        {value: min + 1, warnings: 0},
      ]);
      expect([max - 1, max, max + 1].map(read)).toEqual([
        {value: max - 1, warnings: 0},
        {value: max, warnings: 0},
        {value: max, warnings: 1},
      ]);
    },
  );
});
