// The types that the stages of a fetch hand on.

import type {Deadline} from '../core/deadline.ts';
import type {Brand, Result} from '../core/result.ts';
import type {HostDecision} from '../core/tool.ts';

/** An absolute http or https URL in canonical form, without fragment. (appendix A.2) */
export type CanonicalUrl = Brand<string, 'CanonicalUrl'>;

declare const parsed: unique symbol;
declare const checked: unique symbol;
declare const authorized: unique symbol;

/** A URL that passed the syntactic checks. Made by `url/parse-url.ts` only. (SRD 3.2.1) */
export interface WebUrl {
  readonly [parsed]: true;
  readonly canonical: CanonicalUrl;
  readonly scheme: 'http' | 'https';
  /** As WHATWG prints it: ASCII, lower case, brackets around IPv6, a trailing dot kept. */
  readonly host: string;
  /** Ruling A4: what is resolved, sent as SNI and `Host`, and checked against the certificate: no trailing dot, no brackets. */
  readonly name: string;
  /** The address, where the host is an IP literal. Canonical text, without brackets. */
  readonly address: string | undefined;
  /** The default port where none is written (FR-WF-05f); 0 only where 0 is written, and then never allowed. */
  readonly port: number;
  /** `{scheme}://{host}[:{port}]`, the scope of robots.txt. */
  readonly origin: string;
  /** What goes into the request line and what robots rules are matched with. */
  readonly pathAndQuery: string;
  readonly path: string;
}

/** A `WebUrl` whose port and literal address the guard accepts; a name is still to be resolved. */
export interface CheckedUrl {
  readonly [checked]: true;
  readonly url: WebUrl;
  /** The operator opened blocked ranges for this host and port (`allow_private`), and that holds here. */
  readonly opened: boolean;
}

/**
 * Leave to connect. The guard alone mints it, the transport accepts nothing else, so a request
 * that was not checked does not compile (FR-WF-06a).
 */
export interface PinnedTarget {
  readonly [authorized]: true;
  readonly url: WebUrl;
  /** Checked, in the order of trying, at most `max_dns_attempts` of them. */
  readonly addresses: readonly [string, ...string[]];
  /** A7: what the remote address of the socket may be (all checked addresses). */
  readonly pinned: ReadonlySet<string>;
}

/** A secret that the operator has sent to one origin, with the main document's requests and no others. */
export interface Credential {
  /** `https://host[:port]`, as `WebUrl.origin` has it. */
  readonly origin: string;
  /** The header that carries it. */
  readonly header: string;
  readonly value: () => string;
  /** Names the pages that it showed in the cache. The secret cannot be found from it. */
  readonly id: string;
}

/** Says which program asks, to an origin that wants to know (RFC 9421). */
export interface RequestSigner {
  /**
   * The headers that answer an `Accept-Signature`, for a GET of this URL and for no other authority. `undefined`
   * where another signature is asked for than can be given.
   */
  readonly answer: (challenge: string, url: WebUrl) => Readonly<Record<string, string>> | undefined;
}

/** `details.reason` of a `http_4xx` that is no error but a demand for a licence; the reading tools have a code for it. */
export const LICENSE_REQUIRED = 'license_required';

/** Lower-case name → values in the order of arrival. */
export type HeaderMap = ReadonlyMap<string, readonly string[]>;

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD';
  /** Beside `Host` and `Connection`, which the transport sets. Names as they are to be sent. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A response whose body has not been read. Exactly one of `read` and `discard` must be called. */
export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderMap;
  /** The decoded body, whole; `response_too_large` above `maxBytes` decoded bytes. */
  readonly read: (maxBytes: number) => Promise<Result<Uint8Array>>;
  /** FR-WF-ROBOTS-SIZE-01: the first `maxBytes` decoded bytes, and whether there were more. */
  readonly readPrefix: (maxBytes: number) => Promise<Result<{bytes: Uint8Array; cut: boolean}>>;
  /** Drops the body; the connection is closed unless the rest of the body is at hand. */
  readonly discard: () => void;
}

/** FR-WF-07a: the statuses whose `Location` is followed. */
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export interface HttpTransport {
  readonly request: (
    target: PinnedTarget,
    request: HttpRequest,
    budget: Deadline,
  ) => Promise<Result<HttpResponse>>;
  readonly close: () => Promise<void>;
}

/** What a document is. Beyond HTML and plain text, each kind is read where a setting allows it (ruling R3). */
export type Media = 'html' | 'text' | ExtraMedia;

export const EXTRA_MEDIA = ['markdown', 'json', 'feed', 'pdf'] as const;
export type ExtraMedia = (typeof EXTRA_MEDIA)[number];

/** Rulings R1 and R3: how a page is asked for where more is wanted than `web_fetch` gives. */
export interface ReadOptions {
  /** Beside HTML and plain text. */
  readonly accepts: ReadonlySet<ExtraMedia>;
  /** A page that nobody has confirmed for longer is asked for again. Default: the TTL of the cache. */
  readonly maxAgeMs?: number | undefined;
}

/** A document as it came: where from, and undecoded. */
export interface RawDocument {
  readonly url: WebUrl;
  readonly headers: HeaderMap;
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly media: Media;
  readonly headerCharset: string | undefined;
  /** Epoch milliseconds. */
  readonly fetchedAt: number;
  /** Ruling F2: reached by 301 and 308 only. */
  readonly permanent: boolean;
}

/** A document that is kept, and how a server is asked whether it still has that one (RFC 9110 §13). */
export interface StaleDocument {
  readonly conditions: Readonly<Record<string, string>>;
  /** Whether a 304 with these headers speaks of it. */
  readonly matches304: (headers: HeaderMap) => boolean;
  /** Where its server is asked about it, if not at the address of the page: the version in Markdown that it is from. */
  readonly at?: CheckedUrl;
}

/** What extraction makes of a document, and what the cache stores (FR-WF-CCH-CONTENT-01). */
export interface ExtractedDocument {
  readonly markdown: string;
  readonly title?: string;
  readonly language?: string;
}

/** A part of a page, under one heading. (FR-WF-03b) */
export interface FetchChunk {
  /** The heading that the chunk stands under; empty above the first. */
  readonly heading: string;
  /** The text as Markdown. */
  readonly text: string;
  /** Tokens of `text` in cl100k_base, exact. */
  readonly token_count: number;
}

export type RenderingMethod = 'http' | 'browser';

// biome-ignore format: a list
/** FR-WF-NOTES-ORDER-01: the tokens, in their canonical order. */
export const NOTE_ORDER = [
  'cache_hit', 'robots_unavailable_fail_open', 'browser_unavailable_used_http', 'browser_timeout_dom_partial',
  'browser_dom_truncated', 'browser_blocked_non_get', 'charset_fallback', 'cache_write_failed',
  'hub_unavailable', 'tool_output_limit',
] as const;

/** Something about the answer that its reader should know, such as `charset_fallback`. docs/tools.md explains each. */
export type Note = (typeof NOTE_ORDER)[number];

/** FR-WF-TRUNC-REASON-02: highest precedence first. */
export const TRUNCATION_PRECEDENCE = [
  'tool_output_limit',
  'browser_dom_truncated',
  'browser_timeout_dom_partial',
] as const;

/** Why an answer holds less than the page. */
export type TruncationReason = (typeof TRUNCATION_PRECEDENCE)[number];

/** What `web_fetch` answers. (FR-WF-03) */
export interface FetchResponse {
  /** The URL as it was asked for. */
  readonly requested_url: string;
  /** The URL that answered, after redirects. */
  readonly final_url: string;
  /** When the page was fetched, RFC 3339, UTC; for a page of the cache, when it was stored. */
  readonly fetched_at: string;
  /** The title of the page; absent where it has none. */
  readonly title?: string;
  /** The language that the page declares, such as `en`; absent where it declares none. */
  readonly language?: string;
  /** The page as Markdown, in order. */
  readonly chunks: readonly FetchChunk[];
  /** Whether a browser rendered the page. */
  readonly rendering_method: RenderingMethod;
  /** Whether something of the page is missing. */
  readonly truncated: boolean;
  /** Why; present exactly where `truncated` is true. */
  readonly truncation_reason?: TruncationReason;
  /** What else the reader should know, in a fixed order, each at most once. */
  readonly notes: readonly Note[];
}

/** A chunk without its text: small enough to be handed from thread to thread beside the document. */
export interface PlannedChunk {
  readonly heading: string;
  /** Starts and ends of its parts in the document, in turns. Between two parts stands a blank line. */
  readonly parts: readonly number[];
  readonly tokens: number;
}

export interface ChunkPlan {
  /** The limit of a chunk. */
  readonly maxTokens: number;
  readonly chunks: readonly PlannedChunk[];
}

/** What a site says of how its pages may be used, as it is written. It is recorded, and nothing is decided by it. */
export interface UsagePreference {
  readonly source: (typeof USAGE_SOURCES)[number];
  readonly name: (typeof USAGE_NAMES)[number];
  readonly value: string;
}

/** A header of the response, the robots.txt of the origin (what it says to us), or the page itself. */
export const USAGE_SOURCES = ['http', 'robots.txt', 'html'] as const;
/** AIPREF, Cloudflare's content signals, and the address of an RSL licence. */
export const USAGE_NAMES = ['Content-Usage', 'Content-Signal', 'License'] as const;

/** What a page says about itself by its structure (meta elements, JSON-LD, `time`), unproven. */
export interface PageByline {
  readonly author?: string;
  /** ISO 8601, as the page writes it. */
  readonly published?: string;
  readonly site?: string;
}

/** Rulings R1 and R3: what is known of a document beside its text. */
export interface PageFacts extends PageByline {
  /** RFC 3339: when the server last said that the document is still this one. */
  readonly validatedAt?: string;
  /** Where it is neither HTML nor plain text. */
  readonly media?: ExtraMedia;
  /** The version in Markdown that the page names, where the text is from there. */
  readonly alternate?: string;
  readonly usage?: readonly UsagePreference[];
}

/** A page from the network or from the cache. */
export interface Page extends ExtractedDocument {
  readonly finalUrl: string;
  /** RFC 3339. */
  readonly fetchedAt: string;
  readonly method: RenderingMethod;
  readonly notes: readonly Note[];
  readonly facts: PageFacts;
  /** Its chunks, of the size that was asked for when it was loaded. A page of another replica has none. */
  readonly plan?: ChunkPlan | undefined;
  /** What the fetch left of `timeout_seconds` for chunking. Default: all. */
  readonly remainingMs?: number;
}

/** FR-WF-02: validated, with defaults filled in. */
export interface FetchRequest {
  readonly url: string;
  readonly max_chunk_tokens: number;
  readonly no_cache: boolean;
  readonly force_browser: boolean;
  /** R2: what is taken for the content. Default: what the options say. */
  readonly mode?: 'full' | 'reader';
}

export interface FetchLimits {
  /** Ruling E7: the bytes of the compact JSON of the response. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Review R11: asked about every host that the fetch is led to. Default: all are allowed. */
  readonly mayReach?: MayReach | undefined;
  /** Rulings R1 and R3: for reading tools, which want more of a page than `web_fetch` gives. */
  readonly reading?: ReadOptions | undefined;
}

export interface FetchOutcome {
  readonly response: FetchResponse;
  /** The whole page, of which the chunks are pieces. */
  readonly page: Page;
}

/** Whether the rules of whoever makes a call let it go on to a host that it is led to. */
export type MayReach = (host: string) => HostDecision;
