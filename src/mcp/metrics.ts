// Counts calls, and renders the counts as Prometheus reads them.
import type {Clock} from '../core/clock.ts';
import {FAILURE_CODES} from '../core/failure-codes.ts';
import type {Json} from '../core/result.ts';
import type {ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';

/** Seconds. */
const BUCKETS = [0.1, 0.3, 1, 3, 10, 30, 100];
/** What a client calls that is no tool here. */
const UNKNOWN = 'unknown';

interface Durations {
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** Counts the calls of a host. Its labels come from a fixed list, so that no client can add one. */
export class CallMetrics {
  readonly #clock: Clock;
  readonly #outcomes = new Map<string, Map<string, number>>();
  readonly #durations = new Map<string, Durations>();
  #running = 0;
  #fromCache = 0;
  #fromNetwork = 0;
  #rendered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same host, whose calls are counted. */
  measure(host: ToolHost): ToolHost {
    const names = new Set(host.listTools().map(({name}) => name));
    return {
      listTools: () => host.listTools(),
      renderText: result => host.renderText(result),
      call: async (request, options) => {
        const tool = names.has(request.tool) ? request.tool : UNKNOWN;
        const start = this.#clock.monotonic();
        this.#running += 1;
        try {
          const result = await host.call(request, options);
          this.#count(tool, result, (this.#clock.monotonic() - start) / 1000);
          return result;
        } finally {
          this.#running -= 1;
        }
      },
    };
  }

  read(): readonly Metric[] {
    const outcomes: Sample[] = [...this.#outcomes].flatMap(([tool, counts]) =>
      [...counts].map(([outcome, value]) => ({labels: {tool, outcome}, value})),
    );
    return [
      {
        name: 'forge_tools_calls_total',
        type: 'counter',
        help: 'Calls that have ended, by tool and by "ok" or the code of the failure.',
        samples: outcomes,
      },
      {
        name: 'forge_tools_call_duration_seconds',
        type: 'histogram',
        help: 'How long calls took.',
        samples: [...this.#durations].flatMap(([tool, durations]) => histogram(tool, durations)),
      },
      gauge('forge_tools_calls_running', 'Calls under way.', this.#running),
      {
        name: 'forge_tools_pages_total',
        type: 'counter',
        help: 'Pages that web_fetch answered with, by where they came from.',
        samples: [
          {labels: {from: 'cache'}, value: this.#fromCache},
          {labels: {from: 'network'}, value: this.#fromNetwork},
        ],
      },
      {
        name: 'forge_tools_pages_rendered_total',
        type: 'counter',
        help: 'Of those, how many the browser rendered.',
        samples: [{value: this.#rendered}],
      },
    ];
  }

  #count(tool: string, {error, data}: ToolResult, seconds: number): void {
    const outcome = error === null ? 'ok' : Object.hasOwn(FAILURE_CODES, error.code) ? error.code : UNKNOWN;
    const outcomes = this.#outcomes.get(tool) ?? new Map<string, number>();
    this.#outcomes.set(tool, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
    const durations = this.#durations.get(tool) ?? {buckets: BUCKETS.map(() => 0), sum: 0, count: 0};
    this.#durations.set(tool, durations);
    for (const [at, limit] of BUCKETS.entries()) {
      if (seconds <= limit) durations.buckets[at] = (durations.buckets[at] ?? 0) + 1;
    }
    durations.sum += seconds;
    durations.count += 1;
    if (tool !== 'web_fetch' || error !== null || !isObject(data)) return;
    const {notes, rendering_method: method} = data;
    if (Array.isArray(notes) && notes.includes('cache_hit')) this.#fromCache += 1;
    else this.#fromNetwork += 1;
    if (method === 'browser') this.#rendered += 1;
  }
}

export function gauge(name: string, help: string, value: number): Metric {
  return {name, type: 'gauge', help, samples: [{value}]};
}

function histogram(tool: string, {buckets, sum, count}: Durations): readonly Sample[] {
  return [
    ...BUCKETS.map((limit, at) => ({
      suffix: '_bucket',
      labels: {tool, le: String(limit)},
      value: buckets[at] ?? 0,
    })),
    {suffix: '_bucket', labels: {tool, le: '+Inf'}, value: count},
    {suffix: '_sum', labels: {tool}, value: sum},
    {suffix: '_count', labels: {tool}, value: count},
  ];
}

function isObject(data: Json): data is {readonly [key: string]: Json} {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Of a histogram the suffix of the name is `_bucket`, `_sum` or `_count`. */
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The text format that Prometheus reads, version 0.0.4. */
export function metricText(metrics: readonly Metric[]): string {
  return metrics
    .flatMap(({name, type, help, samples}) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({suffix = '', labels = {}, value}) => `${name}${suffix}${labelText(labels)} ${value}`),
    ])
    .map(line => `${line}\n`)
    .join('');
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replace(/[\\"\n]/g, found => (found === '\n' ? '\\n' : `\\${found}`))}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
