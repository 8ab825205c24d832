// One caller of the changing tools: a session of its own on a shared tree, from the built package.
import {appendFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const dist = new URL('../../../dist/', import.meta.url);
const {systemClock} = await import(new URL('core/clock.js', dist));
const {openWorkspaceSession} = await import(new URL('tools/files/session.js', dist));
const {nodeProcessRunner} = await import(new URL('workspace/process-runner.js', dist));
const {undoStep} = await import(new URL('tools/change/undo-step.js', dist));
const MAKERS = {
  read_file: (await import(new URL('tools/files/read-file.js', dist))).readFileTool,
  str_replace: (await import(new URL('tools/files/str-replace.js', dist))).strReplaceTool,
  write_file: (await import(new URL('tools/files/write-file.js', dist))).writeFileTool,
  apply_patch: (await import(new URL('tools/files/apply-patch.js', dist))).applyPatchTool,
  replace_in_files: (await import(new URL('tools/files/replace-in-files.js', dist))).replaceInFilesTool,
  move_file: (await import(new URL('tools/files/move-file.js', dist))).moveFileTool,
  delete_file: (await import(new URL('tools/files/delete-file.js', dist))).deleteFileTool,
};

const realProcesses = nodeProcessRunner(systemClock);
/** As on a machine without GNU patch. */
const withoutPatch = {
  run: async request =>
    request.command.endsWith('/patch') ? {end: 'not_started', error: 'ENOENT'} : realProcesses.run(request),
};

/**
 * `base` holds `work`, `state` and the file `order`, to which each change is appended the moment it has taken
 * place: under the lock, and before `onStep` is told of that step, which may be the last thing this process does.
 * With it go the files that it changed, as only the tool knows which these are.
 */
export function openActor(base, name, {onStep = () => {}, isCrossChecked = false} = {}) {
  const opened = openWorkspaceSession({
    root: join(base, 'work'),
    stateDirectory: join(base, 'state'),
    programDirectories: [],
    clock: systemClock,
    processes: isCrossChecked ? realProcesses : withoutPatch,
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const run = join(base, `run-${name}`);
  const done = (token, files) => appendFileSync(join(base, 'order'), `${JSON.stringify({token, files})}\n`);
  /** By step: the files that its record names. */
  const filesOf = new Map();

  /** The change that is being committed: one at a time, as the workspace is locked. */
  let changing;
  const told = step => {
    if (changing?.isLast(step)) done(changing.token, changing.files);
    onStep(step);
  };
  const session = {...opened.value, journal: {...opened.value.journal, onStep: told, waitMs: 60_000}};
  const tools = new Map();
  const toolOf = named => {
    if (!tools.has(named)) tools.set(named, MAKERS[named](session));
    return tools.get(named);
  };

  const call = async (tool, params, {step, token, isChange = true}) => {
    const prepared = toolOf(tool).prepare(params);
    if (!prepared.ok) throw new Error(prepared.error.all);
    let reported = 0;
    const {signal} = new AbortController();
    const answer = await prepared.value.execute({
      requestId: token,
      step,
      signal,
      deadline: {signal, spent: false},
      maxOutputBytes: 102_400,
      availableCapacityBytes: Number.POSITIVE_INFINITY,
      allowTruncation: true,
      log: () => {},
      emit: async event => {
        if (event === 'PATCH_APPLIED') reported += 1;
      },
      saveArtifact: async (path, content) => {
        if (path.endsWith('.undo.json')) {
          const files = JSON.parse(content).files.map(file => file.path);
          filesOf.set(step, files);
          changing = {token, files, isLast: lastStepOf(files)};
        }
        mkdirSync(dirname(join(run, path)), {recursive: true});
        writeFileSync(join(run, path), content);
        return {ok: true, value: path};
      },
      progress: () => {},
    });
    const isReported = reported === (answer.ok && isChange ? 1 : 0);
    if (!isReported) throw new Error(`${token} has PATCH_APPLIED ${reported} times, and is ${answer.ok}`);
    return answer.ok ? 'ok' : answer.error.code;
  };

  return {
    recover: async () => {
      const recovered = await session.recover();
      return recovered.ok ? 'ok' : recovered.error.message;
    },
    read: path => call('read_file', {path}, {step: 0, token: '', isChange: false}),
    change: ({tool, params, step, token}) => call(tool, params, {step, token}),
    /** Takes back a step of this actor. `token` undefined: after the schedule, nobody asks for the order. */
    undo: async ({step, token}) => {
      const files = filesOf.get(step) ?? [];
      const isLast = lastStepOf(files);
      const undoing = {
        ...session,
        journal: {
          ...session.journal,
          onStep: step => {
            if (token !== undefined && isLast(step)) done(token, files);
            onStep(step);
          },
        },
      };
      const undone = await undoStep(undoing, run, step);
      return undone.ok ? 'ok' : `${undone.error.code}: ${undone.error.message}`;
    },
    close: () => session.close(),
  };
}

/** The step at which a change of these files counts. */
function lastStepOf(files) {
  return what => (files.length === 1 ? /^(?:replaced|removed) /.test(what) : what === 'committed');
}

/** Everything that an actor is to do: operations in parallel, each perhaps undone afterwards. */
export function act(actor, operations, answered) {
  return Promise.all(
    operations.map(async ({undo, ...operation}) => {
      const code = await actor.change(operation);
      answered(operation.token, code);
      if (undo === undefined || code !== 'ok') return;
      const undone = await actor.undo({step: operation.step, token: undo});
      answered(undo, undone.split(':')[0]);
    }),
  );
}
