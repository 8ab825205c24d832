// One caller of the changing tools: a session of its own on a shared tree, from the built package. Used in the
// process of the test and in processes that are killed.
import {appendFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const dist = new URL('../../../dist/', import.meta.url);
const {systemClock} = await import(new URL('core/clock.js', dist));
const {openWorkspaceSession} = await import(new URL('tools/workspace-session.js', dist));
const {workspaceTools} = await import(new URL('tools/workspace-tools.js', dist));
const {undoStep} = await import(new URL('tools/undo-step.js', dist));

/**
 * `base` holds `work`, `state` and the file `order`, to which each change that took place is appended while the
 * workspace is still locked. `onStep` is told of each step on disk.
 */
export function openActor(base, name, onStep = () => {}) {
  const opened = openWorkspaceSession({
    root: join(base, 'work'),
    stateDirectory: join(base, 'state'),
    programDirectories: [],
    clock: systemClock,
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const session = {...opened.value, journal: {...opened.value.journal, onStep, waitMs: 60_000}};
  const tools = new Map(workspaceTools(session).map(tool => [tool.name, tool]));
  const run = join(base, `run-${name}`);
  const done = token => appendFileSync(join(base, 'order'), `${token}\n`);

  const call = async (tool, params, step, token) => {
    const prepared = tools.get(tool).prepare(params);
    if (!prepared.ok) throw new Error(prepared.error.all);
    const answer = await prepared.value.execute({
      requestId: token,
      step,
      signal: new AbortController().signal,
      maxOutputBytes: 102_400,
      availableCapacityBytes: Number.POSITIVE_INFINITY,
      allowTruncation: true,
      log: () => {},
      emit: async event => {
        if (event === 'PATCH_APPLIED') done(token);
      },
      saveArtifact: async (path, content) => {
        mkdirSync(dirname(join(run, path)), {recursive: true});
        writeFileSync(join(run, path), content);
        return {ok: true, value: path};
      },
      progress: () => {},
    });
    return answer.ok ? 'ok' : answer.error.code;
  };

  return {
    recover: () => session.recover(),
    read: path => call('read_file', {path}, 0, ''),
    change: ({tool, params, step, token}) => call(tool, params, step, token),
    /** Takes back a step of this actor. `token` undefined: after the schedule, nobody asks for the order. */
    undo: async ({step, token, last}) => {
      const told = what => {
        onStep(what);
        if (token !== undefined && last(what)) done(token);
      };
      const undoing = {...session, journal: {...session.journal, onStep: told}};
      const undone = await undoStep(undoing, run, step);
      return undone.ok ? 'ok' : `${undone.error.code}: ${undone.error.message}`;
    },
  };
}

/** The step at which a change of so many writes counts. */
export function lastStepOf(writes) {
  return what => (writes === 1 ? /^(?:replaced|removed) /.test(what) : what === 'committed');
}

/** Everything that an actor is to do: operations in parallel, each perhaps undone afterwards. */
export function act(actor, operations, answered) {
  return Promise.all(
    operations.map(async ({undo, ...operation}) => {
      const code = await actor.change(operation);
      answered(operation.token, code);
      if (undo === undefined || code !== 'ok') return;
      const {step, writes} = operation;
      const undone = await actor.undo({step, token: undo, last: lastStepOf(writes)});
      answered(undo, undone.split(':')[0]);
    }),
  );
}
