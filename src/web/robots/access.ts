// Says whether a URL may be fetched by the robots.txt of its origin.
// What an origin said is remembered, and shared by all who ask at the same time.

import {SingleFlight} from '../../core/async.ts';
import type {Clock} from '../../core/clock.ts';
import {Deadline} from '../../core/deadline.ts';
import type {Log} from '../../core/log.ts';
import {LruCache} from '../../core/lru-cache.ts';
import type {SharedBodies, Turn} from '../../core/replicas.ts';
import {type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {WebFetchOptions} from '../options.ts';
import type {CheckedUrl, HttpResponse, RenderingMethod, UsagePreference, WebUrl} from '../page.ts';
import {retrieveRobots} from './retrieve.ts';
import {
  decideByRobots,
  parseRobotsBytes,
  printRobotsText,
  type Robots,
  type RobotsText,
  readRobotsText,
  robotsToken,
} from './robots.ts';
import type {RuleIndex} from './rules.ts';

/** What one tool call hands along to every hop: see `FetchRun`. */
interface RobotsCall {
  readonly method: RenderingMethod;
}

export interface RobotsDeps<Call extends RobotsCall> {
  readonly options: WebFetchOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Checks the address as a page's is checked (guard, ports) and sends the request. */
  readonly openHop: (url: WebUrl, call: Call, budget: Deadline) => Promise<Result<HttpResponse>>;
  /** Ruling S1: where the replicas share what they have read. */
  readonly bodies?: SharedBodies | undefined;
}

export interface RobotsAccess<Call> {
  /**
   * SRD 3.3: whether a URL may be fetched. Fails with `robots_disallowed`, `robots_unavailable`, as the origin
   * itself fails (`dns_failed`, `network`), with `host_busy` or `hub_unavailable`, or with `cancelled`. With `failOpen`, it may be although the rules are unknown (FR-WF-09a).
   */
  readonly check: (checked: CheckedUrl, call: Call, signal?: AbortSignal) => Promise<Result<RobotsLeave>>;
}

export interface RobotsLeave {
  readonly failOpen: boolean;
  /** What the site says there of the use of its pages; nobody acts on it. */
  readonly usage?: readonly UsagePreference[];
}

/** What is kept of a robots.txt: what it says to us. */
interface OwnPart {
  readonly rules: RuleIndex;
  readonly usage: readonly UsagePreference[];
}

const HOUR_MS = 3_600_000;
/** A thousand usual files take two or three megabytes; a hostile one at the size limit takes two by itself. */
const MAX_CACHE_BYTES = 64 * 2 ** 20;
/** RFC 9309 §2.4: no longer than a day. */
const LONGEST_SHARED_MS = 24 * HOUR_MS;
/** The caller's time for robots.txt ends earlier, or later: this bounds one that was not cancelled. */
const SHARED_WAIT_MS = 60_000;
/** A rule is text of the site's choosing; no more of it than this is repeated to a reader. */
const SHOWN_RULE = 200;

export function createRobotsAccess<Call extends RobotsCall>(deps: RobotsDeps<Call>): RobotsAccess<Call> {
  const {options, clock} = deps;
  const token = robotsToken(options);
  const ttlMs = options.robots_cache_ttl_hours * HOUR_MS;
  // By origin, with 0 entries never. Kept are the rules that speak to us, not the file. (FR-WF-08, FR-WF-08f, FR-WF-08g,
  // FR-WF-ROBOTS-CACHE-03)
  const limits = {entries: options.robots_cache_entries, bytes: MAX_CACHE_BYTES, ttlMs};
  const cache = new LruCache<OwnPart>(limits, clock);
  const loads = new SingleFlight<Result<OwnPart>>();

  /** Remembers what of a robots.txt speaks to us. */
  function keep(origin: string, robots: Robots, leftMs?: number): OwnPart {
    const rules = robots.rulesFor(token);
    // The values are slices of the file, which they must not keep in memory.
    const usage = robots
      .preferencesFor(token)
      .map(one => ({...one, value: Buffer.from(one.value).toString()}));
    const own = {rules, usage};
    cache.set(origin, own, rules.bytes + usage.reduce((sum, {value}) => sum + value.length + 64, 0), leftMs);
    return own;
  }

  /** Ruling S1: one replica retrieves it; each parses it, and goes by its own rules. */
  async function load(
    {url: asked, opened}: CheckedUrl,
    call: Call,
    cancel: AbortSignal,
  ): Promise<Result<OwnPart>> {
    const {origin} = asked;
    // What a private host says is nobody's who reads the engine.
    if (deps.bodies === undefined || opened) return retrieve(asked, call, cancel);
    const terms = {signal: cancel, waitMs: SHARED_WAIT_MS};
    let obtained = await deps.bodies.obtain(`robots\n${origin}`, terms);
    if (obtained.kind === 'found') {
      const {bytes, leftMs, fence} = obtained;
      const text = readRobotsText(bytes, origin, options.robots.max_robots_bytes);
      if (text) {
        return ok(keep(origin, parseRobotsBytes(text.bytes, text.cut), leftMs));
      }
      obtained = await deps.bodies.obtain(`robots\n${origin}`, {...terms, above: fence});
    }
    if (obtained.kind === 'failed') return {ok: false, error: obtained.error};
    if (obtained.kind !== 'turn') return retrieve(asked, call, cancel);
    const {turn} = obtained;
    try {
      return await retrieve(asked, call, cancel, turn);
    } finally {
      await turn.end();
    }
  }

  async function retrieve(
    asked: WebUrl,
    call: Call,
    cancel: AbortSignal,
    turn?: Turn,
  ): Promise<Result<OwnPart>> {
    // Ruling B2: a whole `timeout_seconds` for one robots.txt, ended early by `cancel`.
    const budget = new Deadline(options.timeout_seconds * 1000, clock, cancel);
    budget.enter('robots');
    try {
      const open = (url: WebUrl): Promise<Result<HttpResponse>> => deps.openHop(url, call, budget);
      let text: RobotsText | undefined;
      const onText = (given: RobotsText): void => {
        text = given;
      };
      const robots = await retrieveRobots(asked, {options, log: logOf(call), open, onText}, budget);
      if (!robots.ok) return robots;
      if (text) await turn?.put(printRobotsText(asked.origin, text), Math.min(ttlMs, LONGEST_SHARED_MS));
      // FR-WF-ROBOTS-CACHE-02, -04: answers are remembered, allow-all among them; failures never are.
      return ok(keep(asked.origin, robots.value));
    } finally {
      budget.close();
    }
  }

  /** FR-WF-19c */
  function logOf({method: rendering_method}: Call): Log {
    return event => deps.log({rendering_method, cache_hit: false, ...event});
  }

  function decide({rules, usage}: OwnPart, url: WebUrl, log: Log): Result<RobotsLeave> {
    const decision = decideByRobots(rules, url.pathAndQuery);
    if (decision.allowed) return ok({failOpen: false, ...(usage.length > 0 && {usage})});
    const rule = decision.rule?.slice(0, SHOWN_RULE);
    log({
      level: 'info',
      event: 'robots_disallowed',
      requested_host: url.host,
      error_code: 'robots_disallowed',
    });
    return fail(
      'robots_disallowed',
      `The robots.txt of ${url.origin} disallows ${url.path} for "${token}" (${rule}). Choose another source.`,
      {path: url.path, origin: url.origin, rule},
    );
  }

  return {
    async check(checked, call, signal) {
      const {url} = checked;
      const log = logOf(call);
      const known = cache.get(url.origin);
      if (known) return decide(known, url, log);
      // Ruling B5: one request for all who ask at the same time.
      let isOurs = false;
      let shared = await loads.share(url.origin, signal, cancel => {
        isOurs = true;
        return load(checked, call, cancel);
      });
      // Review R11: what the rules of another call refused says nothing about this one.
      if (shared && !isOurs && !shared.value.ok && wasDenied(shared.value.error)) {
        shared = {value: await load(checked, call, signal ?? new AbortController().signal)};
      }
      if (!shared) {
        return fail('cancelled', `The call was cancelled while the robots.txt of ${url.origin} was read.`, {
          phase: 'robots',
        });
      }
      const loaded = shared.value;
      if (loaded.ok) return decide(loaded.value, url, log);
      if (loaded.error.code !== 'robots_unavailable') return loaded;
      const failOpen = options.robots.fail_open;
      log({
        level: 'warn',
        event: failOpen ? 'robots_unavailable_fail_open' : 'robots_unavailable',
        requested_host: url.host,
        error_code: 'robots_unavailable',
        error: loaded.error.details['error'],
      });
      return failOpen ? ok({failOpen}) : loaded;
    },
  };
}

function wasDenied({code, details}: Failure): boolean {
  return code === 'robots_unavailable' && details['error'] === 'approval_denied';
}
