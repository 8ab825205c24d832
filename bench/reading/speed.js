import {alternate, median} from '../measure.js';

const ROUNDS = 7;

/** What one question of a large page costs, and twice the page. */
export async function speedOf({runReadJob}) {
  const lines = ['', 'ms for one question, this thread, median of 7:'];
  for (const [kind, ask] of Object.entries({
    overview: {kind: 'overview'},
    find: {kind: 'find', query: 'How much water do bees drink in summer?'},
    chunk: {kind: 'chunk', chunk: 100},
  })) {
    const one = pageOf(1e6);
    const two = pageOf(2e6);
    const run = markdown => () => runReadJob({markdown, ask, maxTokens: 2000, links: 'drop'});
    const costs = await alternate({one: run(one), two: run(two)}, ROUNDS);
    lines.push(
      `${kind.padEnd(10)} 1 MB ${median(costs.one).toFixed(0).padStart(5)}   2 MB ${median(costs.two).toFixed(0).padStart(5)}`,
    );
  }
  return lines;
}

/** Prose with headings and links, no two sentences the same. */
function pageOf(units) {
  const words =
    'water bees summer hive keeper honey field of the and in a flower morning river stone garden winter air light'.split(
      ' ',
    );
  const parts = [];
  let seed = 1;
  const next = most => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  for (let length = 0, at = 0; length < units; at += 1) {
    const text = Array.from({length: 60}, () => words[next(words.length)]).join(' ');
    const part =
      at % 8 === 0
        ? `## Part ${at} ${words[next(words.length)]}`
        : `${text} [${words[next(words.length)]} ${at}](https://e.com/${at}/${next(1e6)}).`;
    parts.push(part);
    length += part.length + 2;
  }
  return parts.join('\n\n');
}
