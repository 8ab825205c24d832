// The settings `[tools.webfetch]` and `[tools.webread]`, a line each.

import {
  choice,
  flag,
  integer,
  integerList,
  own,
  path,
  type SettingsOf,
  section,
  tableList,
  text,
  textList,
} from '../core/setting.ts';
import {EXTRA_MEDIA, type ExtraMedia} from './page.ts';

// biome-ignore format: a setting is a line
/** `[tools.webfetch]` (SRD 5.3, SRD 5.4) */
export const webFetchSection = section('Fetching web pages as Markdown chunks.', {
  enabled: flag(false, 'Offer `web_fetch` to agents. The `fetch` command and `toolbox.webFetch` work without it.'),
  user_agent: text('forge-webfetch/1.0', 'The `User-Agent` header.'),
  timeout_seconds: integer(20, [1, 300, 's'], 'Budget of one fetch: all hops, download, decoding and extraction together.'),
  max_redirects: integer(5, [0, 20], 'Redirects followed before `redirect_limit`.'),
  default_max_chunk_tokens: integer(600, [128, 2048, 'tokens'], 'Chunk size if the call does not give `max_chunk_tokens`.'),
  cache_dir: path('${TEMP}/forge-webfetch', 'Directory of the page cache. Environment variables are expanded; empty disables caching.'),
  cache_ttl_days: integer(7, [1, 365, 'days'], 'How long a cached page is used.'),
  max_cache_entries: integer(10_000, [0, 1_000_000], 'Cached pages kept; the least recently used go first. 0 disables caching.'),
  max_cache_bytes: integer(1_073_741_824, [1_048_576, 1_099_511_627_776, 'bytes'], 'Total size of the cache files.'),
  max_download_bytes: integer(5_242_880, [1024, 104_857_600, 'bytes'], 'Largest document, after decompression.'),
  robots_cache_entries: integer(1024, [0, 100_000], 'Origins whose robots.txt is remembered in memory. 0 disables that.'),
  robots_cache_ttl_hours: integer(24, [1, 720, 'hours'], 'How long a robots.txt is remembered.'),
  allow_auto_execution: flag(false, 'Run `web_fetch` without asking for approval.'),
  output: own(choice(['json', 'text'], '`text` gives `web_fetch` the parameters `url` and `maxLength` (default 8000 characters) for agents that want one text. It takes at most 15 s, and failures are text.')),
  cache_redirects: own(flag(false, 'Remember permanent redirects (301, 308), so that their URLs can be cache hits.')),
  allow_private: own(tableList(['host', 'cidr'], 'Opens blocked addresses for one host, such as a wiki of your own network. It needs no other setting. `port_blocked` and `ssrf_blocked` show the lines to add. It holds for calls that ask for that host, while they stay on opened hosts. No page of the public web leads there. `security.additional_blocked_cidrs` still blocks.', {
    host: text('', 'The host as URLs write it: `wiki.example.com`, `localhost`, `10.1.2.3`. No wildcards.'),
    cidr: text('', 'The opened range: `10.1.2.0/24`. Other addresses of the host are checked as usual. Write two tables for two ranges.'),
    ports: integerList([80, 443], 'The opened ports. They need not be in `security.allowed_ports`.'),
  })),
  credentials: own(tableList(['host'], 'A secret for one origin, over https only. It goes with the page itself until the fetch leaves that origin. Subresources, robots.txt and redirects elsewhere never get it. It is not logged, its pages are cached apart, and questions mention it.', {
    host: text('', 'The host, with a port unless it is 443: `git.example.com`, `git.example.com:8443`. No wildcards.'),
    header: text('Authorization', 'The header that carries it.'),
    prefix: text('', 'Written before the secret: `"Bearer "`, `"token "`.'),
    env: text('', 'The environment variable with the secret.'),
    file: path('', 'The file that holds the secret, outside of the workspace; a line break at its end is left out. Either this or `env`.'),
  })),
  identity: own(section('Signs requests (Web Bot Auth) for an origin that answers 401, 403 or 429 and asks for it. Unset, nothing is signed. Signatures go over https only, and not after a redirect from another origin.', {
    key_file: path('', 'The Ed25519 key from `forge-tools bot-key`: a private file outside the workspace.'),
    agent_url: text('', 'The https origin where you publish the output of `forge-tools bot-key`: `https://bot.example.com`.'),
  })),
  http: section('The HTTP client.', {
    use_system_proxy: flag(false, 'Use `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. We still resolve and check names; the proxy connects to the checked address.'),
    accept_markdown: own(flag(false, 'Ask for `text/markdown` too, and pass such a body through.')),
  }),
  robots: section('robots.txt.', {
    fail_open: flag(false, 'Fetch even if robots.txt cannot be read, and say so in `notes`.'),
    user_agent_token: text('', 'Our token in `User-agent` lines. Empty takes the product name of `user_agent` (`forge-webfetch`).'),
    max_robots_bytes: integer(524_288, [1024, 104_857_600, 'bytes'], 'Bytes of a robots.txt to read; the rest is ignored.'),
    cross_origin_redirects: own(choice(['deny', 'same_site', 'follow'], 'For a robots.txt that redirects to another origin. `same_site` follows within the registrable domain.')),
  }),
  browser: section('Rendering in headless Chromium.', {
    enabled: flag(true, 'Allow browser mode and the fallback to it.'),
    chromium_path: path('', 'The Chromium binary. Empty searches system directories, then `PATH`, never the workspace.'),
    max_total_subresource_bytes: integer(20_971_520, [1_048_576, 524_288_000, 'bytes'], 'Total size that a page may load besides its document.'),
    network_idle_ms: integer(20_000, [1000, 120_000, 'ms'], 'Longest wait for the page to stop loading.'),
    max_rendered_dom_bytes: integer(5_242_880, [1024, 104_857_600, 'bytes'], 'Largest rendered document.'),
    block_resources: textList(['image', 'font', 'media'], 'CDP resource types that are not loaded.'),
    isolation: own(choice(['auto', 'namespace', 'flags'], 'How Chromium is kept from the network, besides interception. `namespace`: bubblewrap makes an empty network namespace, or the browser is not used. `flags`: its own flags only. `auto`: the namespace if possible, and always the flags.')),
    memory_mb: own(integer(2048, [256, 1_048_576, 'MiB'], 'Memory of one Chromium with its processes and profile. A page that takes more is `browser_crashed`. Needs a control group.')),
    max_processes: own(integer(1024, [128, 32_768], 'Processes and threads of one Chromium. Needs a control group.')),
    max_instances: own(integer(4, [1, 256], 'Chromiums of this process at the same time. Further calls wait.')),
    max_wait_seconds: own(integer(60, [1, 600, 's'], 'Longest such wait, outside other limits. Then the call is `timeout` in phase `browser`.')),
    keep_ready: own(flag(false, 'Keep one started Chromium ready for the next page, for at most 60 s after a rendered page. It shows one page and gives way to a waiting call. Only if Chromium has a network namespace.')),
  }),
  security: section('Addresses that may be reached. No argument of a call can change this.', {
    block_private_ips: flag(true, 'Block RFC 1918 and IPv6 unique local addresses.'),
    block_loopback: flag(true, 'Block 127.0.0.0/8, ::1 and `localhost` names.'),
    block_link_local: flag(true, 'Block 169.254.0.0/16 and fe80::/10.'),
    block_reserved: flag(true, 'Block every other special-purpose range.'),
    allowed_ports: integerList([80, 443], 'The complete list of allowed ports; empty means 80 and 443. An entry outside 1–65535 makes every call `bad_args`.'),
    additional_blocked_cidrs: textList([], 'Ranges that are always blocked. An invalid one stops the start.'),
    max_dns_attempts: integer(2, [1, 10], 'Addresses of a host to try before giving up.'),
    allow_insecure_overrides: flag(false, 'Must be true for any of the `block_` settings to be false.'),
  }),
  rendering: section('When a page is rendered in the browser.', {
    js_heavy_domains: textList([], 'Hosts that skip HTTP mode. `.example.com` matches the subdomains, `example.com` that host only.'),
    spa_fallback_enabled: flag(true, 'Render in the browser when a page has little text and looks like a single-page application.'),
    min_extracted_chars: integer(400, [0, 10_000, 'characters'], 'Pages with less Markdown than this are candidates.'),
  }),
  extraction: own(section('From HTML to Markdown.', {
    mode: own(choice(['full', 'reader'], '`full` keeps everything except known boilerplate. `reader` keeps the main content, by the structure of the page, with fewer tokens. Both are cached side by side.')),
    honor_base_href: own(flag(false, 'Resolve links against `<base href>` instead of the final URL.')),
  })),
});

export type WebFetchOptions = SettingsOf<typeof webFetchSection>;

/** R2. */
export type ExtractionMode = WebFetchOptions['extraction']['mode'];

// biome-ignore format: a setting is a line
/** `[tools.webread]` (Ruling R1) */
export const webReadSection = own(section('Reading parts of a page: `web_read` and `verify_quote`, with the guard and cache of `[tools.webfetch]`.', {
  enabled: own(flag(true, 'Offer `web_read` and `verify_quote` to agents, if `tools.webfetch.enabled` offers `web_fetch`.')),
  mode: own(choice(['reader', 'full'], 'Like `tools.webfetch.extraction.mode`, for `web_read` and `verify_quote`.')),
  media: own(section('Other documents that `web_read` and `verify_quote` read, but not `web_fetch`. A profile turns on all that the file leaves open.', {
    markdown: own(flag(false, "Request `text/markdown` first, and follow a page's link to its Markdown version on its own origin.")),
    json: own(flag(false, 'Read JSON: paths as sections.')),
    feeds: own(flag(false, 'Read RSS and Atom: entries as sections.')),
    pdf: own(flag(false, 'Read the text of PDF: pages as sections. Scans are refused.')),
  })),
}));

export type WebReadOptions = SettingsOf<typeof webReadSection>;

/** Ruling R3 */
export function readableMedia({media}: WebReadOptions): ReadonlySet<ExtraMedia> {
  const {markdown, json, feeds, pdf} = media;
  const allowed = {markdown, json, feed: feeds, pdf};
  return new Set(EXTRA_MEDIA.filter(one => allowed[one]));
}

// biome-ignore format: a setting is a line
/** `[tools.websearch]` */
export const webSearchSection = own(section('Searching the web: `web_search`, offered where an engine is named here.', {
  timeout_seconds: integer(10, [1, 60, 's'], 'Time that one engine has for one query.'),
  cache_minutes: integer(15, [0, 1440, 'min'], 'How long results are kept in memory. 0 keeps none.'),
  merge: flag(false, 'Ask every engine and merge their results by rank. Otherwise the next engine is asked where one fails.'),
  engines: tableList(['kind'], 'The engines, in the order in which they are asked. They get the words of the query.', {
    kind: choice(['searxng', 'brave', 'kagi', 'google'], 'The form in which it is asked.'),
    name: text('', 'How answers name it. Empty takes `kind`.'),
    endpoint: text('', 'The address of its search. Empty takes the one of its documentation; SearXNG has none: `https://search.example.com/search`. A private address also needs `[[tools.webfetch.allow_private]]`.'),
    env: text('', 'The environment variable that holds its key. It is sent over https only.'),
    file: path('', 'The file that holds its key, outside of the workspace. Either this or `env`, or neither.'),
    engine_id: text('', 'Google: the `cx` of the search engine.'),
    categories: textList([], 'SearXNG: the categories to search, such as `it` or `news`.'),
  }),
}));

export type WebSearchOptions = SettingsOf<typeof webSearchSection>;
