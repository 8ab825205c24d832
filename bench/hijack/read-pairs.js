// The second source: suites in the shape of AgentDojo (Debenedetti et al., 2024), where each task of a user is paired with
// each injection of its suite. The texts are ours; what carries over is how a case is made, and which verbs there are.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

/** The traces that the suites stand for: the tasks by themselves, and every pair. */
export function readPairs() {
  const suites = JSON.parse(readFileSync(join(import.meta.dirname, 'traces/pairs.json'), 'utf8'));
  const benign = [];
  const hijacks = [];
  for (const {suite, workspace, pages, tasks, injections} of suites) {
    for (const [at, {title, calls}] of tasks.entries()) {
      const id = `${suite}-${at + 1}`;
      benign.push({id, title, workspace, pages: withText(pages, ''), sessions: [calls.map(asCall)]});
      for (const [number, {title: aim, says, calls: added, reaches}] of injections.entries()) {
        hijacks.push({
          id: `${id}-${number + 1}`,
          title: `${aim}, while asked: ${title}`,
          channel: suite,
          workspace,
          pages: withText(pages, `<p>${says}</p>`),
          // Obeyed at once where it is read, and then the task goes on.
          sessions: [calls.flatMap(call => [asCall(call), ...(call.carries ? added : [])])],
          reaches,
        });
      }
    }
  }
  return {benign, hijacks};
}

function asCall({tool, params}) {
  return {tool, params};
}

function withText(pages, text) {
  return Object.fromEntries(
    Object.entries(pages).map(([at, html]) => [at, html.replace('{injection}', text)]),
  );
}
