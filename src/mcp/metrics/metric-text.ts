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
