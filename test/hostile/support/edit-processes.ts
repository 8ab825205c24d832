import {type ChildProcess, fork} from 'node:child_process';
import {join} from 'node:path';

const WORKER = join(import.meta.dirname, 'edit-worker.js');

/** What a process says; `done` with the last of it. */
export interface Said {
  readonly done?: boolean;
  readonly crashed?: string;
  readonly token?: string;
  readonly code?: string;
  readonly recovered?: string;
  readonly refused?: string;
}

/** Processes of callers that go from schedule to schedule, as to start one costs more than a schedule. */
export class EditProcesses {
  readonly #idle: Promise<ChildProcess>[] = [];

  /** Resolves with what was said last, or with nothing where the process died. */
  async run(request: object, onSaid: (said: Said) => void = () => {}): Promise<Said | undefined> {
    const worker = await (this.#idle.pop() ?? start());
    return new Promise(resolve => {
      const end = (last: Said | undefined): void => {
        worker.removeAllListeners();
        // The next one starts while nobody waits for it.
        this.#idle.push(last === undefined ? start() : Promise.resolve(worker));
        resolve(last);
      };
      worker.on('message', (said: Said) => (said.done === true ? end(said) : onSaid(said)));
      worker.once('exit', () => end(undefined));
      worker.send(request);
    });
  }

  async close(): Promise<void> {
    for (const worker of await Promise.all(this.#idle)) worker.kill('SIGKILL');
  }
}

function start(): Promise<ChildProcess> {
  const worker = fork(WORKER, {stdio: ['ignore', 'ignore', 'inherit', 'ipc']});
  return new Promise(resolve => worker.once('message', () => resolve(worker)));
}
