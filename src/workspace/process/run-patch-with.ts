import type {RunPatch} from '../patch/apply/cross-check.ts';
import type {ProcessRunner} from './process-runner.ts';

const MAX_STDOUT_BYTES = 1024 * 1024;

/** How `crossCheck` runs GNU patch. Rejects where it cannot be started, as it asks for. */
export function runPatchWith(processes: ProcessRunner, signal: AbortSignal): RunPatch {
  return async (command, args, {cwd, env, stdin}) => {
    const stdout: Uint8Array[] = [];
    const end = await processes.run({
      command,
      args,
      cwd,
      env,
      stdin: [stdin],
      onStdout: part => {
        stdout.push(part);
        return true;
      },
      maxStdoutBytes: MAX_STDOUT_BYTES,
      signal,
    });
    if (end.end === 'not_started' || end.end === 'broken') {
      const what = end.end === 'broken' ? 'talk to' : 'start';
      const problem = new Error(`Could not ${what} ${command}: ${end.error}`);
      throw Object.assign(problem, {code: end.error, syscall: 'spawn'});
    }
    const text = Buffer.concat(stdout).toString('utf8');
    if (end.end === 'exited') return {exitCode: end.exitCode, stdout: text, stderr: end.stderr};
    return {exitCode: null, stdout: text, stderr: `it was ended (${end.end})`};
  };
}
