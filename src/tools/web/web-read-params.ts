import {z} from 'zod';
import type {Ask} from '../../web/read/reading.ts';
import {SNAPSHOT_PATTERN} from '../../web/read/snapshot-of.ts';
import type {DocumentRequest, ReadRequest} from '../../web/read-page.ts';

/** The address of a page, as every tool that reads one takes it. */
export const pageUrl = z.string().refine(url => url.trim() !== '', 'must not be empty or blank');

export const snapshotParam = z.string().regex(SNAPSHOT_PATTERN, 'must be 32 lower-case hexadecimal digits');

export const maxAgeParam = z.int().min(0).optional().describe('Seconds.');

const ONE = 'take at most one of section, find and chunk';

/** Ruling R1. */
export const webReadParams = z
  .strictObject({
    url: pageUrl.describe('http or https. A #fragment is a section.'),
    section: z
      .union([z.int().min(0), z.string().min(1).max(300)])
      .optional()
      .describe('Number or heading of the outline.'),
    find: z.string().min(1).max(1000).optional(),
    chunk: z.int().min(1).optional(),
    max_tokens: z.int().min(256).max(8192).default(2000),
    links: z.enum(['drop', 'keep']).default('drop'),
    snapshot: snapshotParam.optional().describe('From an earlier answer.'),
    since: snapshotParam.optional().describe('Earlier snapshot: what changed.'),
    max_age: maxAgeParam,
    no_cache: z.boolean().default(false).describe('Fetch anew.'),
    force_browser: z.boolean().default(false),
  })
  .superRefine(({section, find, chunk}, context) => {
    const given = Object.entries({section, find, chunk}).filter(([, value]) => value !== undefined);
    const [, second] = given;
    if (second) context.addIssue({code: 'custom', path: [second[0]], message: ONE});
  });

export type WebReadArgs = z.input<typeof webReadParams>;
export type WebReadParams = z.output<typeof webReadParams>;

export function readRequest(params: WebReadParams): ReadRequest {
  const {max_tokens, links, since} = params;
  return {...documentRequest(params), ask: askOf(params), maxTokens: max_tokens, links, since};
}

export function documentRequest({
  url,
  snapshot,
  max_age,
  no_cache,
  force_browser,
}: Pick<WebReadParams, 'url' | 'no_cache' | 'force_browser'> & {
  readonly snapshot?: string | undefined;
  readonly max_age?: number | undefined;
}): DocumentRequest {
  return {url, snapshot, max_age, no_cache, force_browser};
}

function askOf({url, section, find, chunk}: WebReadParams): Ask {
  if (section !== undefined) return {kind: 'section', section, fragment: false};
  if (find !== undefined) return {kind: 'find', query: find};
  if (chunk !== undefined) return {kind: 'chunk', chunk};
  const fragment = fragmentOf(url);
  return fragment === '' ? {kind: 'overview'} : {kind: 'section', section: fragment, fragment: true};
}

/** Without a text directive, which is for browsers. */
function fragmentOf(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? '' : (url.slice(hash + 1).split(':~:', 1)[0] ?? '').trim();
}
