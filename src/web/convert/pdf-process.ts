import {type ChildProcess, fork} from 'node:child_process';
import {packageFile} from '../../core/package-file.ts';
import type {Job} from './jobs.ts';
import type {ConversionWorker, JobAnswer} from './worker-thread.ts';

/** As `worker.js`: the build's, and one file. */
const ENTRY = 'dist/bin/pdf-reader.js';

/**
 * One process that reads one PDF. A thread would not do: V8 ends the whole process for some allocations that a
 * stranger's document can ask for, whatever the limits of a thread are.
 */
export class PdfProcess implements ConversionWorker {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #dead = false;
  #answer: ((answer: JobAnswer) => void) | undefined;

  constructor() {
    this.#child = fork(packageFile(ENTRY), [], {
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', answer => this.#finish(explained(answer as JobAnswer)));
    this.#gone = new Promise(resolve => {
      const end = (answer: JobAnswer): void => {
        this.#dead = true;
        this.#finish(answer);
        resolve();
      };
      this.#child.on('error', error => end({problem: error.message}));
      this.#child.on('exit', () => end(explained({problem: 'Reading it took more memory than there is.'})));
    });
  }

  get alive(): boolean {
    return !this.#dead;
  }

  run(job: Job): Promise<JobAnswer> {
    return new Promise(resolve => {
      this.#answer = resolve;
      this.#child.send(job, error => {
        if (error) this.#finish({problem: error.message});
      });
    });
  }

  async kill(): Promise<void> {
    this.#dead = true;
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #finish(answer: JobAnswer): void {
    this.#answer?.(answer);
    this.#answer = undefined;
  }
}

/** What ends without a reason of its own ran into a limit. */
function explained(answer: JobAnswer): JobAnswer {
  return 'value' in answer ? answer : {reason: 'too_complex', ...answer};
}
