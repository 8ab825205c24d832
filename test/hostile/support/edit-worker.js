// A process with the callers of one schedule, then of the next. It kills itself at its K-th step on disk where the
// schedule says so.
import {act, openActor} from './edit-actor.js';

/** Parallel callers in this process, each with a session of its own. */
async function perform({base, actors, files, killAt, isCrossChecked}) {
  let steps = 0;
  const onStep = () => {
    steps += 1;
    if (steps === killAt) process.kill(process.pid, 'SIGKILL');
  };
  const opened = actors.map(({name}) => openActor(base, name, {onStep, isCrossChecked}));
  await Promise.all(
    actors.map(async ({operations}, at) => {
      for (const file of files) await opened[at].read(file);
      await act(opened[at], operations, (token, code) => process.send({token, code}));
    }),
  );
  for (const actor of opened) actor.close();
  return {};
}

async function recover({base}) {
  const actor = openActor(base, 'later');
  const recovered = await actor.recover();
  actor.close();
  return {recovered};
}

/** One after the other, up to the first that is refused. */
async function undo({base, steps}) {
  const actors = new Map(steps.map(({name}) => [name, openActor(base, name)]));
  let refused;
  for (const {name, step, token} of steps) {
    const undone = await actors.get(name).undo({step});
    if (undone !== 'ok') {
      refused = `${token}: ${undone}`;
      break;
    }
  }
  for (const actor of actors.values()) actor.close();
  return {refused};
}

const WORK = {perform, recover, undo};

process.on('message', async ({work, ...request}) => {
  try {
    process.send({done: true, ...(await WORK[work](request))});
  } catch (error) {
    process.send({done: true, crashed: String(error?.stack ?? error)});
  }
});
process.send({ready: true});
