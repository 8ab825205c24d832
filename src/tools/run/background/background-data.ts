import {z} from 'zod';
import type {BackgroundCommand} from './background-command.ts';

/** A command in the background, as the answers of `read_output`, `wait_for` and `stop_run` have it. */
export const backgroundState = z.object({
  running: z.boolean(),
  duration_sec: z.number(),
  ended: z.enum(['exited', 'killed', 'out_of_memory', 'out_of_time', 'stopped', 'failed']).exactOptional(),
  exit_code: z.int().exactOptional(),
  signal: z.string().exactOptional(),
  error: z.string().exactOptional(),
  left_running: z.array(z.string()).readonly().exactOptional(),
  repositories: z.array(z.string()).readonly().exactOptional(),
});

export type BackgroundState = z.output<typeof backgroundState>;

export function stateOfCommand({end, runningMs}: BackgroundCommand): BackgroundState {
  if (end === undefined) return {running: true, duration_sec: seconds(runningMs)};
  return {
    running: false,
    duration_sec: seconds(end.durationMs),
    ended: end.ended,
    ...(end.exitCode !== undefined && {exit_code: end.exitCode}),
    ...(end.signal !== undefined && {signal: end.signal}),
    ...(end.failure !== undefined && {error: end.failure.message}),
    ...(end.leftRunning.length > 0 && {left_running: end.leftRunning}),
    ...(end.repositories.length > 0 && {repositories: end.repositories}),
  };
}

/** `running for 3 s`, `ended with exit code 1 after 3 s` */
export function describeState({
  running,
  duration_sec,
  ended,
  exit_code,
  signal,
  error,
}: BackgroundState): string {
  const time = `${Math.round(duration_sec * 10) / 10} s`;
  if (running) return `running for ${time}`;
  switch (ended) {
    case 'exited':
      return `ended with exit code ${exit_code} after ${time}`;
    case 'out_of_memory':
      return `ran out of memory after ${time} (tools.run.memory_mb)`;
    case 'out_of_time':
      return `was ended after ${time}, as long as it may run`;
    case 'stopped':
      return `was stopped after ${time}`;
    case 'failed':
      // It goes on in a sentence of ours.
      return `failed after ${time}: ${error?.replace(/\.$/, '')}`;
    default:
      return `was killed by ${signal} after ${time}`;
  }
}

/** What is to be known when it has ended, beside how. */
export function describeRemains({left_running = [], repositories = []}: BackgroundState): readonly string[] {
  return [
    ...(repositories.length > 0 ? [`git repositories have appeared in: ${repositories.join(', ')}`] : []),
    ...(left_running.length > 0 ? [`killed at its end: ${left_running.join(', ')}`] : []),
  ];
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
