import childProcess, {type ChildProcess} from 'node:child_process';
import {syncBuiltinESMExports} from 'node:module';
import {Readable} from 'node:stream';
import {onTestFinished, vi} from 'vitest';

type Start = (...call: readonly unknown[]) => ChildProcess;

/** The processes that are started from here on, until the test ends. Each is seen before its starter sees it. */
export function startedChildren(see: (child: ChildProcess) => void = () => {}): ChildProcess[] {
  const children: ChildProcess[] = [];
  const spies = (['spawn', 'execFile'] as const).map(name => {
    const start = childProcess[name] as unknown as Start;
    return vi.spyOn(childProcess, name).mockImplementation(((...call: readonly unknown[]) => {
      const child = start(...call);
      children.push(child);
      see(child);
      return child;
    }) as never);
  });
  // Those who import a function by its name get the one of now.
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
  return children;
}

/** Breaks each pipe that is read from a process, as a reset does. Throws where nobody listens for that. */
export function breakPipes({stdio}: ChildProcess): void {
  const [, ...outputs] = stdio;
  for (const pipe of outputs) if (pipe instanceof Readable) pipe.emit('error', new Error('read ECONNRESET'));
}
