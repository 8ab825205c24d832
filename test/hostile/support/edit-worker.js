// A process with one caller. It kills itself at its K-th step on disk where the schedule says so.
import {act, openActor} from './edit-actor.js';

process.on('message', async ({base, name, files, operations, killAt}) => {
  let steps = 0;
  const onStep = () => {
    steps += 1;
    if (steps === killAt) process.kill(process.pid, 'SIGKILL');
  };
  try {
    const actor = openActor(base, name, onStep);
    for (const file of files) await actor.read(file);
    await act(actor, operations, (token, code) => process.send({token, code}));
    process.send({done: true});
  } catch (error) {
    process.send({crashed: String(error?.stack ?? error)});
  }
});
process.send({ready: true});
