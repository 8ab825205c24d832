import type {CallToolResult} from '@modelcontextprotocol/server';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {TaskStore} from './task-store.ts';

const done: CallToolResult = {content: [{type: 'text', text: 'done'}]};
const question = {
  method: 'elicitation/create',
  params: {mode: 'form', message: '?', requestedSchema: {type: 'object', properties: {}}},
} as const;

test('W21: a task is there as soon as it is handed out, and keeps its result for its time', async () => {
  const clock = createManualClock();
  const tasks = new TaskStore(clock);
  const task = tasks.create({ttlMs: 1000, statusMessage: 'Runs.', work: async () => done});
  expect(task).toMatchObject({status: 'working', ttlMs: 1000, statusMessage: 'Runs.'});
  const id = task?.taskId ?? '';
  expect(tasks.get(id)).toEqual(task);
  await Promise.resolve();
  expect(tasks.get(id)).toMatchObject({status: 'completed', result: done});
  expect(tasks.cancel(id)).toBe(true);
  expect(tasks.get(id)).toMatchObject({status: 'completed'});
  clock.advance(1001);
  expect(tasks.get(id)).toBeUndefined();
  expect(tasks.cancel(id)).toBe(false);
  expect(tasks.update(id, {})).toBe(false);
});

test('W21: what throws has failed, what is cancelled stays cancelled', async () => {
  const tasks = new TaskStore(createManualClock());
  const failed = tasks.create({ttlMs: 1000, work: async () => Promise.reject(new Error('Broken.'))});
  let isAborted = false;
  const cancelled = tasks.create({
    ttlMs: 1000,
    work: ({signal}) =>
      new Promise(resolve => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          resolve(done);
        });
      }),
  });
  expect(tasks.cancel(cancelled?.taskId ?? '')).toBe(true);
  await new Promise(resolve => setImmediate(resolve));
  expect(isAborted).toBe(true);
  expect(tasks.get(cancelled?.taskId ?? '')?.status).toBe('cancelled');
  expect(tasks.get(failed?.taskId ?? '')).toMatchObject({
    status: 'failed',
    error: {code: -32_603, message: 'Broken.'},
  });
});

test('W21: a task that asks waits until all of it is answered', async () => {
  const tasks = new TaskStore(createManualClock());
  const task = tasks.create({
    ttlMs: 1000,
    work: async ({ask}) => {
      const answers = await ask({a: question, b: question});
      return {content: [{type: 'text', text: Object.keys(answers).join()}]};
    },
  });
  const id = task?.taskId ?? '';
  expect(tasks.get(id)).toMatchObject({status: 'input_required', inputRequests: {a: question, b: question}});
  tasks.update(id, {a: {action: 'accept'}, other: {action: 'accept'}});
  expect(tasks.get(id)?.inputRequests).toEqual({b: question});
  tasks.update(id, {b: {action: 'decline'}});
  await new Promise(resolve => setImmediate(resolve));
  expect(tasks.get(id)).toMatchObject({status: 'completed', result: {content: [{text: 'a,b'}]}});
});
