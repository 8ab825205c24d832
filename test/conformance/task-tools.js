import {inputRequired, MissingRequiredClientCapabilityError} from '@modelcontextprotocol/server';
import {canTakeTasks, TASKS_EXTENSION} from '../../dist/mcp/tasks.js';
import {accepted, elicitation} from './fixture-tools.js';

const TTL_MS = 600_000;
const say = text => ({content: [{type: 'text', text}]});
const form = message => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: {type: 'object', properties: {confirm: {type: 'boolean'}}},
  },
});

const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('Cancelled.'));
    });
  });

const start = (tasks, work) => ({...tasks.create({ttlMs: TTL_MS, work}), resultType: 'task', content: []});
const requireTasks = context => {
  if (canTakeTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: {extensions: {[TASKS_EXTENSION]: {}}},
  });
};

/** The tools of the scenarios about tasks: `(arguments, request context, store) => result`. */
export const TASK_TOOLS = {
  greet: ({name}) => say(`Hello, ${name}!`),
  slow_compute: async ({seconds = 1, label = ''}, context, tasks) => {
    const work = async signal => {
      await pause(seconds * 1000, signal);
      return say(`Computed ${label}.`);
    };
    return canTakeTasks(context) ? start(tasks, ({signal}) => work(signal)) : work();
  },
  failing_job: (_args, context, tasks) => {
    requireTasks(context);
    return start(tasks, async ({signal}) => {
      await pause(500, signal);
      return {...say('This job fails.'), isError: true};
    });
  },
  protocol_error_job: (_args, context, tasks) => {
    requireTasks(context);
    return start(tasks, async () => {
      throw new Error('This job breaks the protocol.');
    });
  },
  confirm_delete: ({filename}, context, tasks) => {
    requireTasks(context);
    return start(tasks, async ({ask}) => {
      const {confirmation} = await ask({confirmation: form(`Delete ${filename}?`)});
      return say(confirmation?.action === 'accept' ? `Deleted ${filename}.` : `Kept ${filename}.`);
    });
  },
  test_tool_with_task: (_args, context, tasks) => {
    requireTasks(context);
    const name = accepted(context.mcpReq, 'user_name')?.name;
    return name === undefined
      ? inputRequired({
          inputRequests: {user_name: elicitation('What is your name?', {name: {type: 'string'}})},
        })
      : start(tasks, async () => say(`Hello, ${name}!`));
  },
  multi_input: (_args, context, tasks) => {
    requireTasks(context);
    return start(tasks, async ({ask}) => {
      const answers = await ask({first: form('First?'), second: form('Second?')});
      return say(`${Object.keys(answers).length} answers.`);
    });
  },
};
