// What a recorded trial costs a model in tokens, without one. usage: node bench/agent/run.js [--dist DIR] [--before] [--calls]
// --before replays the calls that the first tools made necessary, for which --dist names a build of then.
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {distDirectory, loadOurs} from '../load.js';
import {replayTask, TASKS} from './replay.js';

const {values} = parseArgs({
  options: {
    dist: {type: 'string', default: ''},
    before: {type: 'boolean', default: false},
    calls: {type: 'boolean', default: false},
  },
});
const program = join(values.dist === '' ? distDirectory() : values.dist, 'bin/forge-tools.js');
/** Of 57,302 tokens in the trial that this one is like. */
const MOST_TEXT = 38_000;

const {countTokens: count} = await loadOurs('web/tokens/count-tokens.js');
for (const channel of values.before ? ['both'] : ['both', 'text']) {
  const total = {calls: 0, arguments: 0, text: 0, structure: 0};
  console.log(
    `\n== results = ${channel}\n\n${row(['', 'calls', 'errors', 'arguments', 'text', 'structure', 'done'])}`,
  );
  let definitions = 0;
  for (const task of TASKS) {
    const replayed = await replayTask(task, {
      program,
      calls: values.before ? task.before : task.calls,
      channel,
      count,
    });
    const {costs, left} = replayed;
    ({definitions} = replayed);
    const sum = field => costs.reduce((all, cost) => all + cost[field], 0);
    const errors = costs.filter(({isError}) => isError).length;
    const done = left.length === 0 ? 'yes' : `no: ${left.map(({file}) => file).join(' ')}`;
    console.log(
      row([task.name, costs.length, errors, sum('arguments'), sum('text'), sum('structure'), done]),
    );
    if (values.calls) {
      for (const cost of costs) {
        const first = cost.isError ? cost.first.split('\n')[0] : '';
        console.log(row([`    ${cost.tool}`, '', '', cost.arguments, cost.text, cost.structure, first]));
      }
    }
    total.calls += costs.length;
    for (const field of ['arguments', 'text', 'structure']) total[field] += sum(field);
  }
  console.log(row(['all', total.calls, '', total.arguments, total.text, total.structure, '']));
  console.log(`\ndefinitions of the tools: ${definitions} tokens`);
  if (!values.before) {
    const holds = total.text <= MOST_TEXT ? 'holds' : 'FALLS SHORT';
    console.log(`bar: text <= ${MOST_TEXT}   measured ${total.text}   ${holds}`);
  }
}

function row([name, ...cells]) {
  return [
    name.padEnd(42),
    ...cells.slice(0, -1).map(cell => String(cell).padStart(9)),
    `  ${cells.at(-1)}`,
  ].join(' ');
}
