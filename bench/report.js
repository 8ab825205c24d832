import {median, ratios} from './measure.js';

/**
 * What a suite answers with. A table holds one row a contender, each with its costs round by round (the
 * lower the better): `{title, unit, rows: [{name, costs, bytes?, calls?}], ours?}`. `ours` names the row that
 * the others are compared with. A row with `bytes` is shown as MB/s and one with `calls` as calls a second,
 * both with costs in milliseconds. A bar is `{text, values, atLeast}` or `{text, values, atMost}`; it holds
 * if the median of the values does.
 */
export function printReport({tables, bars = [], remarks = []}) {
  return [
    ...tables.map(printTable),
    ...(bars.length > 0 ? [printBars(bars)] : []),
    ...(remarks.length > 0 ? [remarks.join('\n')] : []),
  ].join('\n\n');
}

/** The bars with what was measured, for the file. */
export function checkBars(bars = []) {
  return bars.map(bar => ({...bar, median: median(bar.values), holds: holds(bar)}));
}

function printTable({title, unit = 'ms', rows, ours}) {
  const mine = rows.find(row => row.name === ours);
  const width = Math.max(title.length, ...rows.map(({name}) => name.length)) + 2;
  const head = `${title.padEnd(width)}${unit.padStart(8)} ${'(min … max)'.padEnd(20)}`;
  const lines = rows.map(row => {
    const values = row.costs.map(cost => shown(cost, row));
    const spread = `(${figure(Math.min(...values))} … ${figure(Math.max(...values))})`;
    const line = `${row.name.padEnd(width)}${figure(median(values)).padStart(8)} ${spread.padEnd(20)}`;
    return mine && row !== mine ? `${line} ${printRatio(ratios(mine.costs, row.costs))}` : line;
  });
  return [mine ? `${head} ${ours} is better by` : head.trimEnd(), ...lines.map(line => line.trimEnd())].join(
    '\n',
  );
}

/** What a row is shown as, of a cost. */
export function shown(cost, {bytes, calls}) {
  if (bytes !== undefined) return bytes / 1000 / cost;
  return calls === undefined ? cost : (calls * 1000) / cost;
}

function printRatio(values) {
  const middle = median(values);
  const worse = middle < 1 ? '  we lose' : '';
  return `${figure(middle).padStart(6)} x (${figure(Math.min(...values))} … ${figure(Math.max(...values))})${worse}`;
}

function printBars(bars) {
  const width = Math.max(...bars.map(({text}) => text.length)) + 2;
  return bars
    .map(bar => {
      const limit = bar.atLeast === undefined ? `<= ${bar.atMost}` : `>= ${bar.atLeast}`;
      const {values} = bar;
      const measured = `${figure(median(values))} (${figure(Math.min(...values))} … ${figure(Math.max(...values))})`;
      const outcome = holds(bar) ? 'holds' : 'FALLS SHORT';
      return `bar: ${bar.text.padEnd(width)} ${limit.padEnd(8)} measured ${measured.padEnd(24)} ${outcome}`;
    })
    .join('\n');
}

function holds({values, atLeast, atMost}) {
  const middle = median(values);
  return atLeast === undefined ? middle <= atMost : middle >= atLeast;
}

/** Three significant digits or so. */
export function figure(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
