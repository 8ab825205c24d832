// Requests of a page: which are blocked, which headers pass, and how one is answered.

import type {Clock} from '../../core/clock.ts';
import type {Deadline} from '../../core/deadline.ts';
import type {Log} from '../../core/log.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {HeaderMap, HttpRequest, HttpResponse} from '../page.ts';
import type {CdpConnection, CdpHeader, ErrorReason, PausedRequest} from './cdp.ts';

/** What becomes of a request that Chromium waits with. */
export type Answer =
  | {readonly status: number; readonly headers: readonly CdpHeader[]; readonly body?: Uint8Array}
  | {readonly refuse: ErrorReason};

/** Chromium takes no message above 100 MiB, and base64 makes four bytes of three. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** False where Chromium no longer waits for it. (FR-WF-BSSR-01) */
export async function giveAnswer(
  connection: CdpConnection,
  {requestId}: PausedRequest,
  answer: Answer,
): Promise<boolean> {
  if ('refuse' in answer || (answer.body?.length ?? 0) > MAX_BODY_BYTES) {
    const errorReason = 'refuse' in answer ? answer.refuse : 'Failed';
    return (await connection.send('Fetch.failRequest', {requestId, errorReason})).ok;
  }
  const {status, headers, body} = answer;
  const given = await connection.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: status,
    responseHeaders: [...headers],
    ...(body && body.length > 0 && {body: base64(body)}),
  });
  return given.ok;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

// biome-ignore format: a list
/** FR-WF-BLOCKRES-01: the CDP resource types. */
const RESOURCE_TYPES = [
  'Document', 'Stylesheet', 'Image', 'Media', 'Font', 'Script', 'TextTrack', 'XHR', 'Fetch', 'Prefetch',
  'EventSource', 'WebSocket', 'Manifest', 'SignedExchange', 'Ping', 'CSPViolationReport', 'Preflight',
  'Other',
] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** The types of `block_resources`, matched case-insensitively; an unknown one is `bad_args` at every call. */
export function readBlockedResources(entries: readonly string[]): Result<ReadonlySet<ResourceType>> {
  const blocked = new Set<ResourceType>();
  for (const entry of entries) {
    const type = RESOURCE_TYPES.find(known => known.toLowerCase() === entry.toLowerCase());
    if (!type) {
      return fail(
        'bad_args',
        `Unknown resource type "${entry}" in tools.webfetch.browser.block_resources. Use one of ${RESOURCE_TYPES.join(', ')}.`,
        {field: 'tools.webfetch.browser.block_resources', reason: `unknown resource type "${entry}"`},
      );
    }
    blocked.add(type);
  }
  return ok(blocked);
}

/**
 * Whether the answer is a stream of events, which has no end by design. It is handed over when it ends, and
 * nobody waits for that: a page that listens would never be idle.
 */
export function isEventStream({resourceType, request}: PausedRequest): boolean {
  if (resourceType === 'EventSource') return true;
  const accept = Object.entries(request.headers).find(([name]) => name.toLowerCase() === 'accept')?.[1];
  return accept?.startsWith('text/event-stream') ?? false;
}

// biome-ignore format: a list
/** Ours, the transport's, or about the browser: never taken over from a page's request (FR-WF-07d). */
const NOT_PASSED = new Set([
  'accept-encoding', 'connection', 'content-length', 'cookie', 'cookie2', 'dnt', 'expect', 'host',
  'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'upgrade-insecure-requests', 'user-agent',
  'via',
]);
const NOT_PASSED_PREFIX = /^(?:proxy-|sec-)/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const MAX_VALUE = 8192;

/**
 * What of a page's request headers goes to the server. Those that a page may not send elsewhere
 * were already held back: Chromium asks first, by an OPTIONS request, and that is not let out.
 */
export function requestHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const [field, value] of Object.entries(headers)) {
    const name = field.toLowerCase();
    if (NOT_PASSED.has(name) || NOT_PASSED_PREFIX.test(name)) continue;
    if (!NAME.test(name) || value.length > MAX_VALUE || !VALUE.test(value)) continue;
    passed[name] = value;
  }
  return passed;
}

// biome-ignore format: a list
/**
 * Ruling G5, turned round: what a page and its scripts need is passed; what makes the browser store,
 * report, connect or fetch by itself is not, nor is what nobody has thought of yet.
 */
const PASSED = new Set([
  'age', 'cache-control', 'content-language', 'content-security-policy', 'content-type',
  'cross-origin-embedder-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy', 'date',
  'etag', 'expires', 'last-modified', 'location', 'permissions-policy', 'referrer-policy', 'refresh',
  'retry-after', 'vary',
]);
const PASSED_PREFIX = /^(?:access-control-|x-(?!dns-prefetch))/;
const REPORTS = /^report-(?:uri|to)$/i;

/** The headers that `Fetch.fulfillRequest` is given. The body comes decoded, so its codings are gone. */
export function responseHeaders(headers: HeaderMap): readonly CdpHeader[] {
  const passed: CdpHeader[] = [];
  for (const [name, values] of headers) {
    if (!PASSED.has(name) && !PASSED_PREFIX.test(name)) continue;
    for (const raw of values) {
      const value = name === 'content-security-policy' ? withoutReports(raw) : raw;
      passed.push({name, value: asciiOnly(value)});
    }
  }
  return passed;
}

/** A comma separates policies, a semicolon their directives. */
function withoutReports(value: string): string {
  return value
    .split(',')
    .map(policy =>
      policy
        .split(';')
        .filter(directive => !REPORTS.test(directive.trim().split(/\s/, 1)[0] ?? ''))
        .join(';'),
    )
    .join(',');
}

/** Bytes above ASCII percent-encoded, as browsers read them in a `Location`. */
function asciiOnly(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, byte => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The document that a page begins with, or that it went on to. */
export interface MainDocument {
  /** Final, absolute, without fragment. */
  readonly url: string;
  readonly headers: HeaderMap;
  readonly contentType: 'text/html' | 'text/plain';
  /** UTF-8; decoded by the same rules as in HTTP mode (ruling D1). */
  readonly bytes: Uint8Array;
  readonly charsetFallback: boolean;
}

export type Navigated =
  | {readonly kind: 'redirect'; readonly location: string}
  | {readonly kind: 'document'; readonly document: MainDocument}
  /** 204 and 205: the browser stays where it is. */
  | {readonly kind: 'empty'};

/** The guarded ways out that the spine hands in; there are no others. */
export interface RenderPorts {
  /** FR-WF-11c: one hop of the main document, counted, checked, and allowed by robots.txt. */
  readonly navigate: (url: string, budget: Deadline) => Promise<Result<Navigated>>;
  /** FR-WF-11b: one hop of anything else; checked, but not held against robots.txt (FR-WF-ROBOTS-SCOPE-01). */
  readonly openUrl: (url: string, request: HttpRequest, budget: Deadline) => Promise<Result<HttpResponse>>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RenderSettings {
  readonly options: Pick<
    WebFetchOptions['browser'],
    'max_total_subresource_bytes' | 'network_idle_ms' | 'max_rendered_dom_bytes' | 'memory_mb'
  >;
  readonly maxDownloadBytes: number;
  readonly blocked: ReadonlySet<ResourceType>;
}
