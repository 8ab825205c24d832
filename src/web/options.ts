import type {Section, SettingsOf} from '../core/setting.ts';

/** SRD 5.3 and 5.4: `[tools.webfetch]`. */
export const webFetchSection = {
  kind: 'section',
  doc: 'Fetching web pages as Markdown chunks.',
  entries: {
    enabled: {
      kind: 'flag',
      default: false,
      doc: 'Offer `web_fetch` to agents (MCP and the tool registry). The `fetch` command and the library call of the same name are asked for by a person and work without it.',
    },
    user_agent: {kind: 'text', default: 'forge-webfetch/1.0', doc: 'The `User-Agent` header.'},
    timeout_seconds: {
      kind: 'integer',
      default: 20,
      min: 1,
      max: 300,
      unit: 's',
      doc: 'Budget of one fetch: every redirect hop, the download, decoding and extraction together.',
    },
    max_redirects: {
      kind: 'integer',
      default: 5,
      min: 0,
      max: 20,
      doc: 'Redirects followed before `redirect_limit`.',
    },
    default_max_chunk_tokens: {
      kind: 'integer',
      default: 600,
      min: 128,
      max: 2048,
      unit: 'tokens',
      doc: 'Chunk size where the call does not give `max_chunk_tokens`.',
    },
    cache_dir: {
      kind: 'text',
      default: '${TEMP}/forge-webfetch',
      path: true,
      doc: 'Directory of the page cache. Environment variables are expanded; empty disables caching.',
    },
    cache_ttl_days: {
      kind: 'integer',
      default: 7,
      min: 1,
      max: 365,
      unit: 'days',
      doc: 'How long a cached page serves.',
    },
    max_cache_entries: {
      kind: 'integer',
      default: 10_000,
      min: 0,
      max: 1_000_000,
      doc: 'Cached pages kept; the least recently used go first. 0 disables caching.',
    },
    max_cache_bytes: {
      kind: 'integer',
      default: 1_073_741_824,
      min: 1_048_576,
      max: 1_099_511_627_776,
      unit: 'bytes',
      doc: 'Total size of the cache files.',
    },
    max_download_bytes: {
      kind: 'integer',
      default: 5_242_880,
      min: 1024,
      max: 104_857_600,
      unit: 'bytes',
      doc: 'Largest document, after decompression.',
    },
    robots_cache_entries: {
      kind: 'integer',
      default: 1024,
      min: 0,
      max: 100_000,
      doc: 'Origins whose robots.txt is remembered in memory. 0 disables that.',
    },
    robots_cache_ttl_hours: {
      kind: 'integer',
      default: 24,
      min: 1,
      max: 720,
      unit: 'hours',
      doc: 'How long a robots.txt is remembered.',
    },
    allow_auto_execution: {kind: 'flag', default: false, doc: 'Run `web_fetch` without asking for approval.'},
    cache_redirects: {
      kind: 'flag',
      default: false,
      extension: true,
      doc: 'Remember permanent redirects (301, 308), so that a redirecting URL can be a cache hit.',
    },
    http: {
      kind: 'section',
      doc: 'The HTTP client.',
      entries: {
        use_system_proxy: {
          kind: 'flag',
          default: false,
          doc: 'Use `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. Names are still resolved and judged here; the proxy is asked to connect to the judged address.',
        },
        accept_markdown: {
          kind: 'flag',
          default: false,
          extension: true,
          doc: 'Ask for `text/markdown` too, and pass such a body through.',
        },
      },
    },
    robots: {
      kind: 'section',
      doc: 'robots.txt.',
      entries: {
        fail_open: {
          kind: 'flag',
          default: false,
          doc: 'Fetch although robots.txt cannot be read, and say so in `notes`.',
        },
        user_agent_token: {
          kind: 'text',
          default: '',
          doc: 'The token looked for in `User-agent` lines. Empty derives it from `user_agent` (the product name, so `forge-webfetch`).',
        },
        max_robots_bytes: {
          kind: 'integer',
          default: 524_288,
          min: 1024,
          max: 104_857_600,
          unit: 'bytes',
          doc: 'Bytes of a robots.txt that are read; the rest is ignored.',
        },
        cross_origin_redirects: {
          kind: 'choice',
          default: 'deny',
          choices: ['deny', 'same_site', 'follow'],
          extension: true,
          doc: 'What a robots.txt that redirects to another origin means. `same_site` follows within the registrable domain.',
        },
      },
    },
    browser: {
      kind: 'section',
      doc: 'Rendering in headless Chromium.',
      entries: {
        enabled: {kind: 'flag', default: true, doc: 'Allow browser mode and the fallback to it.'},
        chromium_path: {
          kind: 'text',
          default: '',
          path: true,
          doc: 'The Chromium binary. Empty searches `PATH`.',
        },
        max_total_subresource_bytes: {
          kind: 'integer',
          default: 20_971_520,
          min: 1_048_576,
          max: 524_288_000,
          unit: 'bytes',
          doc: 'Everything that one page may load beside its document.',
        },
        network_idle_ms: {
          kind: 'integer',
          default: 20_000,
          min: 1000,
          max: 120_000,
          unit: 'ms',
          doc: 'Longest wait for the page to stop loading.',
        },
        max_rendered_dom_bytes: {
          kind: 'integer',
          default: 5_242_880,
          min: 1024,
          max: 104_857_600,
          unit: 'bytes',
          doc: 'Largest rendered document.',
        },
        block_resources: {
          kind: 'text-list',
          default: ['image', 'font', 'media'],
          doc: 'CDP resource types that are not loaded.',
        },
      },
    },
    security: {
      kind: 'section',
      doc: 'Which addresses may be reached. Nothing that a model passes can change it.',
      entries: {
        block_private_ips: {
          kind: 'flag',
          default: true,
          doc: 'Block RFC 1918 and IPv6 unique local addresses.',
        },
        block_loopback: {kind: 'flag', default: true, doc: 'Block 127.0.0.0/8, ::1 and `localhost` names.'},
        block_link_local: {kind: 'flag', default: true, doc: 'Block 169.254.0.0/16 and fe80::/10.'},
        block_reserved: {kind: 'flag', default: true, doc: 'Block every other special-purpose range.'},
        allowed_ports: {
          kind: 'integer-list',
          default: [80, 443],
          doc: 'The complete list of allowed ports; empty means 80 and 443. An entry outside 1–65535 makes every call `bad_args`.',
        },
        additional_blocked_cidrs: {
          kind: 'text-list',
          default: [],
          doc: 'Ranges that are blocked whatever else is set. An invalid one stops start-up.',
        },
        max_dns_attempts: {
          kind: 'integer',
          default: 2,
          min: 1,
          max: 10,
          doc: 'Addresses of a host that are tried before giving up.',
        },
        allow_insecure_overrides: {
          kind: 'flag',
          default: false,
          doc: 'Must be true for any of the `block_` settings to be false.',
        },
      },
    },
    rendering: {
      kind: 'section',
      doc: 'When a page is rendered in the browser.',
      entries: {
        js_heavy_domains: {
          kind: 'text-list',
          default: [],
          doc: 'Hosts that skip HTTP mode. `.example.com` matches the subdomains, `example.com` that host only.',
        },
        spa_fallback_enabled: {
          kind: 'flag',
          default: true,
          doc: 'Render in the browser when a page has little text and looks like a single-page application.',
        },
        min_extracted_chars: {
          kind: 'integer',
          default: 400,
          min: 0,
          max: 10_000,
          unit: 'characters',
          doc: 'Pages with less Markdown than this are candidates for that.',
        },
      },
    },
    extraction: {
      kind: 'section',
      doc: 'From HTML to Markdown.',
      extension: true,
      entries: {
        honor_base_href: {
          kind: 'flag',
          default: false,
          extension: true,
          doc: 'Resolve links against `<base href>` instead of the final URL.',
        },
      },
    },
  },
} as const satisfies Section;

export type WebFetchOptions = SettingsOf<typeof webFetchSection>;
