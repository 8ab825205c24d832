/** What resolv.conf(5) says beside the servers, which c-ares reads itself. */
export interface ResolverRules {
  /** Domains that are tried below, in order. */
  readonly search: readonly string[];
  /** A name with so many dots is asked for as it is before it is searched for. */
  readonly ndots: number;
  readonly timeoutMs: number;
  readonly attempts: number;
}

const DEFAULTS = {ndots: 1, timeout: 5, attempts: 2};
/** The bounds that the resolver of the C library puts on its options. */
const MOST = {ndots: 15, timeout: 30, attempts: 5};

/** Reads the text of /etc/resolv.conf; the empty text gives the defaults. Of several lists the last counts. */
export function parseResolvConf(text: string): ResolverRules {
  let search: readonly string[] = [];
  const options = {...DEFAULTS};
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.split(/[ \t\r]+/);
    if (keyword === 'search') search = values;
    else if (keyword === 'domain') search = values.slice(0, 1);
    else if (keyword === 'options') for (const value of values) readOption(value, options);
  }
  return {
    // A root domain as an entry means "as it is", which is asked anyway.
    search: search.map(domain => domain.replace(/^\.+|\.+$/g, '')).filter(domain => domain !== ''),
    ndots: options.ndots,
    timeoutMs: Math.max(1, options.timeout) * 1000,
    attempts: Math.max(1, options.attempts),
  };
}

function readOption(text: string, options: typeof DEFAULTS): void {
  const [, name, value] = /^(ndots|timeout|attempts):(\d+)$/.exec(text) ?? [];
  if (name === 'ndots' || name === 'timeout' || name === 'attempts') {
    options[name] = Math.min(Number(value), MOST[name]);
  }
}
