import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {z} from 'zod';
import type {TaskStore} from './task-store.ts';

/** SEP-2663 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const named = z.looseObject({taskId: z.string()});

/** Whether the client of a request (revision 2026-07-28) can be given a task instead of an answer. */
export function canTakeTasks({mcpReq}: ServerContext): boolean {
  const envelope = mcpReq.envelope as {readonly [key: string]: unknown} | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as {extensions?: object} | undefined;
  return declared?.extensions !== undefined && Object.hasOwn(declared.extensions, TASKS_EXTENSION);
}

/** SEP-2663 over the seam that the SDK has for extensions: `tasks/get`, `tasks/update`, `tasks/cancel`. */
export function serveTasks(server: Server, tasks: TaskStore): void {
  server.setRequestHandler('tasks/get', {params: named}, ({taskId}, context) => {
    requireTasks(context);
    return {...(tasks.get(taskId) ?? unknownTask())};
  });
  server.setRequestHandler('tasks/update', {params: named}, ({taskId, ...params}, context) => {
    requireTasks(context);
    // The SDK takes them out of the parameters, as it does where a call is made again.
    const responses = params['inputResponses'] ?? context.mcpReq.inputResponses;
    return tasks.update(taskId, isObject(responses) ? responses : {}) ? {} : unknownTask();
  });
  server.setRequestHandler('tasks/cancel', {params: named}, ({taskId}, context) => {
    requireTasks(context);
    return tasks.cancel(taskId) ? {} : unknownTask();
  });
}

function requireTasks(context: ServerContext): void {
  if (canTakeTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: {extensions: {[TASKS_EXTENSION]: {}}},
  });
}

function unknownTask(): never {
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'There is no task with this taskId, or its time to live is over. Call the tool again.',
  );
}

function isObject(value: unknown): value is {readonly [key: string]: unknown} {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
