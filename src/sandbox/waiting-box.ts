import type {ChildProcess} from 'node:child_process';
import {Writable} from 'node:stream';
import type {Clock} from '../core/clock.ts';
import {workspaceArguments} from './bubblewrap-profile.ts';
import {BECOME, BECOME_WITH_PIPES, DESCRIPTORS, INIT, JOIN} from './bubblewrap-scripts.ts';
import type {BubblewrapSetup} from './bubblewrap-setup.ts';
import {type ControlGroup, createGroup} from './control-group.ts';
import type {RunOptions} from './options.ts';
import {startChild} from './start-child.ts';
import type {GuardedParts} from './workspace-guard.ts';

const MIB = 1_048_576;

/**
 * A box with its limits, namespaces and mounts, whose process 1 waits for a command. To get there takes the
 * kernel some 20 ms, so one is kept in waiting; it holds nothing of any command.
 */
export interface WaitingBox {
  readonly child: ChildProcess;
  readonly group: ControlGroup | undefined;
  /** The workspace that is mounted in it. */
  readonly parts: GuardedParts;
  /** By the monotonic clock. */
  readonly startedAt: number;
}

export interface BoxPlan {
  readonly setup: BubblewrapSetup;
  readonly options: RunOptions;
  readonly workspace: string;
  readonly parts: GuardedParts;
  /** What every command finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** Throws if the system refuses. */
export async function startBox(plan: BoxPlan): Promise<WaitingBox> {
  const {setup, options, workspace, parts, env, clock} = plan;
  const {open_files, max_processes, memory_mb, cpus} = options;
  const memoryBytes = memory_mb * MIB;
  const limits = {memoryBytes, processes: max_processes, cpus};
  const group = setup.groupPlace && (await createGroup(setup.groupPlace, limits, clock));
  const ulimits = group === undefined ? [open_files, max_processes, memoryBytes / 1024] : [open_files, 0, 0];
  const joins = group?.procsFiles ?? [];
  const box = [
    ...[setup.program, '--args', String(DESCRIPTORS.profile), '--'],
    ...['/bin/sh', '-c', INIT, 'sh', ...ulimits.map(String)],
  ];
  const join = ['sh', String(joins.length), ...joins];
  const child = startChild({
    program: '/bin/sh',
    args:
      setup.becomeOwner.length === 0
        ? ['-c', JOIN + BECOME_WITH_PIPES, ...join, ...box]
        : // Only root may join, and only the owner may open pipes of the owner.
          [
            '-c',
            JOIN + BECOME,
            ...join,
            ...setup.becomeOwner,
            '/bin/sh',
            '-c',
            BECOME_WITH_PIPES,
            'sh',
            ...box,
          ],
    env: {},
    cwd: '/',
    pipes: [0, ...Object.values(DESCRIPTORS)],
  });
  // A shell that cannot be started shows when the box is used.
  child.on('error', () => {});
  const profile = [...setup.systemArgs, ...workspaceArguments(workspace, parts.mounts, env)];
  give(child, DESCRIPTORS.filter, setup.filter);
  // Not in the arguments of a process, which every user of the host can read.
  give(child, DESCRIPTORS.profile, profile.map(argument => `${argument}\0`).join(''));
  return {child, group, parts, startedAt: clock.monotonic()};
}

function give(child: ChildProcess, descriptor: number, content: string | Buffer): void {
  const stream = child.stdio.at(descriptor);
  if (stream instanceof Writable) stream.end(content);
}
