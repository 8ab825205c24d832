import type {ChildProcess} from 'node:child_process';
import {Writable} from 'node:stream';
import type {Clock} from '../core/clock.ts';
import {BECOME, BECOME_WITH_PIPES, DESCRIPTORS, INIT, JOIN} from './bubblewrap-scripts.ts';
import type {BubblewrapSetup} from './bubblewrap-setup.ts';
import {type ControlGroup, createGroup} from './control-group.ts';
import type {RunOptions} from './options.ts';
import {startChild} from './start-child.ts';

const MIB = 1_048_576;

/**
 * A bubblewrap that is a member of its control group and waits for its profile. Joining a group takes
 * the kernel some 10 ms, so one box is kept in waiting; it holds nothing of any command.
 */
export interface WaitingBox {
  readonly child: ChildProcess;
  readonly group: ControlGroup | undefined;
}

/** Throws if the system refuses. */
export async function startBox(
  setup: BubblewrapSetup,
  options: RunOptions,
  clock: Clock,
): Promise<WaitingBox> {
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
    pipes: Object.values(DESCRIPTORS),
  });
  // A shell that cannot be started shows when the box is used.
  child.on('error', () => {});
  const filter = child.stdio.at(DESCRIPTORS.filter);
  if (filter instanceof Writable) filter.end(setup.filter);
  return {child, group};
}
