import {median} from './measure.js';
import {figure, shown} from './report.js';

/** Reports of one suite, put together as if they were one with more rounds. */
export function mergeReports([first, ...others]) {
  const rowsLike = (title, name) =>
    others
      .flatMap(report => report.tables.find(table => table.title === title)?.rows ?? [])
      .filter(row => row.name === name);
  const barsLike = text => others.flatMap(report => report.bars ?? []).filter(bar => bar.text === text);
  return {
    ...first,
    tables: first.tables.map(table => ({
      ...table,
      rows: table.rows.map(row => ({
        ...row,
        costs: [row, ...rowsLike(table.title, row.name)].flatMap(({costs}) => costs),
      })),
    })),
    ...(first.bars && {
      bars: first.bars.map(bar => ({
        ...bar,
        values: [bar, ...barsLike(bar.text)].flatMap(({values}) => values),
      })),
    }),
  };
}

/**
 * What changed between two builds: of our rows and of the bars the medians and how much better the second is, the least
 * gain first. Rows of others are shown too, without an order: they say how quiet the machine was.
 */
export function printComparison(before, after) {
  const ours = [];
  const others = [];
  for (const {title, unit = 'ms', rows, ours: mine} of after.tables) {
    for (const row of rows) {
      const then = before.tables
        .find(table => table.title === title)
        ?.rows.find(({name}) => name === row.name);
      const [old, now] = [then, row].map(known => known && shown(median(known.costs), known));
      const line = {
        name: `${title}: ${row.name}`,
        unit: row.bytes !== undefined ? 'MB/s' : row.calls !== undefined && unit === 'ms' ? '/s' : unit,
        old,
        now,
        gain: then && median(then.costs) / median(row.costs),
      };
      (mine === undefined || row.name === mine ? ours : others).push(line);
    }
  }
  for (const {text, values, atLeast, atMost} of after.bars ?? []) {
    const then = before.bars?.find(bar => bar.text === text);
    const [old, now] = [then?.values, values].map(known => known && median(known));
    const gain = old && (atLeast === undefined ? old / now : now / old);
    ours.push({
      name: `${text} (${atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`})`,
      unit: '',
      old,
      now,
      gain,
    });
  }
  ours.sort(
    (one, other) => (one.gain ?? Number.POSITIVE_INFINITY) - (other.gain ?? Number.POSITIVE_INFINITY),
  );
  const lines = [...ours, ...others];
  const width = Math.max(...lines.map(({name}) => name.length)) + 2;
  const print = ({name, unit, old, now, gain}) =>
    `${name.padEnd(width)}${(old === undefined ? '-' : figure(old)).padStart(8)}${figure(now).padStart(9)} ${unit.padEnd(8)} ${gain === undefined ? 'not there before' : `${gain.toFixed(2)} x`}`;
  return [
    `${''.padEnd(width)}${'before'.padStart(8)}${'after'.padStart(9)}          better by`,
    ...ours.map(print),
    ...(others.length > 0 ? ['', 'others, in both runs', ...others.map(print)] : []),
  ].join('\n');
}
