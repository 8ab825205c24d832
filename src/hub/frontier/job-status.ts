import type {HubValue} from '../connection.ts';

/** How a job stands. */
export interface JobStatus {
  readonly state: 'running' | 'paused' | 'cancelled' | 'finished';
  /** Whether its list was read to the end; until then it does not finish. */
  readonly listed: boolean;
  /** Addresses that were ever added. */
  readonly added: number;
  readonly pending: number;
  /** With workers now. */
  readonly leased: number;
  /** Waiting for another try. */
  readonly later: number;
  readonly done: number;
  readonly failed: number;
  /** Leases that ended without a word. */
  readonly expired: number;
  readonly hosts: {
    /** That may be asked now. */
    readonly ready: number;
    /** That wait for their gap or a pause. */
    readonly waiting: number;
    /** With requests under way. */
    readonly active: number;
    /** Given up. */
    readonly aside: number;
  };
  /** Failures by code, later tries included. */
  readonly errors: {readonly [code: string]: number};
  /** How long the job is there, in milliseconds of the engine. */
  readonly age_ms: number;
  /** Of a worker for an address, and of the job for a host. */
  readonly settings: {
    readonly gap_ms: number;
    readonly per_host: number;
    readonly lease_ms: number;
    readonly max_pending: number;
    readonly depth: number;
    readonly tries: number;
  };
}

/** The answer of the script; `undefined` where it is something else. */
export function readStatus(answer: readonly HubValue[]): JobStatus | undefined {
  const [now, pairs, leased, later, ready, waiting, active, aside] = answer;
  if (!Array.isArray(pairs)) return undefined;
  const fields = new Map<string, HubValue>();
  for (let at = 0; at + 1 < pairs.length; at += 2) fields.set(String(pairs[at]), pairs[at + 1] ?? null);
  const count = (value: HubValue | undefined): number => {
    const number = Number(value ?? 0);
    return Number.isSafeInteger(number) && number >= 0 ? number : 0;
  };
  const field = (name: string): number => count(fields.get(name));
  const state = fields.get('state');
  if (state !== 'running' && state !== 'paused' && state !== 'cancelled') return undefined;
  const errors: [string, number][] = [];
  for (const [name, value] of fields) {
    if (/^e:[a-z_0-9]{1,40}$/.test(name)) errors.push([name.slice(2), count(value)]);
  }
  const listed = field('listed') === 1;
  const left = field('pending') + count(leased) + count(later);
  return {
    state: state === 'running' && listed && left === 0 ? 'finished' : state,
    listed,
    added: field('added'),
    pending: field('pending'),
    leased: count(leased),
    later: count(later),
    done: field('done'),
    failed: field('failed'),
    expired: field('expired'),
    hosts: {ready: count(ready), waiting: count(waiting), active: count(active), aside: count(aside)},
    errors: Object.fromEntries(errors.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))),
    age_ms: Math.max(0, count(now) - field('started')),
    settings: {
      gap_ms: field('gap'),
      per_host: field('max'),
      lease_ms: field('lease'),
      max_pending: field('most'),
      depth: field('depth'),
      tries: field('tries'),
    },
  };
}
