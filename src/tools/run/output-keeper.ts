import type {Failure} from '../../core/failure/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ArtifactStream, ToolContext} from '../../core/tool.ts';
import {type OutputPreview, previewOutput} from '../../sandbox/preview-output.ts';
import type {Execution, SandboxCommand} from '../../sandbox/sandbox.ts';
import {artifactPath, MAX_KEPT_BYTES, type Stream, WHOLES, wholePath} from './kept-output.ts';
import {READ_OUTPUT} from './read-output.ts';

export interface SavedOutput {
  readonly stdout: OutputPreview;
  readonly stderr: OutputPreview;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** The call that shows more of it. */
  readonly howToRead: string;
}

/**
 * The output of one command in the run directory: the artifacts of ruling W9 and, beside one that lacks something,
 * the whole stream, so that `read_output` needs no second run.
 */
export class OutputKeeper {
  readonly spill: NonNullable<SandboxCommand['spill']>;
  readonly #context: ToolContext;
  readonly #streams: readonly ArtifactStream[];
  readonly #maxBytes: number;
  #isLong = false;

  /** `maxBytes`: of all that the session keeps whole. */
  constructor(context: ToolContext, maxBytes: number) {
    this.#context = context;
    this.#maxBytes = maxBytes;
    const whole = (stream: Stream): ArtifactStream =>
      // One byte more says that there was more.
      context.streamArtifact(wholePath(context.step, stream), MAX_KEPT_BYTES + 1);
    const streams = {stdout: whole('stdout'), stderr: whole('stderr')};
    this.#streams = [streams.stdout, streams.stderr];
    this.spill = {stdout: streams.stdout.write, stderr: streams.stderr.write};
  }

  /** A disk that is full takes nothing back of what the command did. */
  close(): void {
    for (const stream of this.#streams) {
      const kept = stream.finish();
      if (kept.ok) this.#isLong ||= kept.value !== undefined;
      else this.#warn('output_not_kept', kept.error);
    }
  }

  async save({stdout, stderr}: Pick<Execution, Stream>): Promise<Result<SavedOutput>> {
    const {step} = this.#context;
    const stdoutPath = await this.#context.saveArtifact(artifactPath(step, 'stdout'), stdout.bytes);
    if (!stdoutPath.ok) return stdoutPath;
    const stderrPath = await this.#context.saveArtifact(artifactPath(step, 'stderr'), stderr.bytes);
    if (!stderrPath.ok) return stderrPath;
    if (this.#isLong) {
      const trimmed = await this.#context.artifacts.trim(WHOLES, this.#maxBytes);
      if (!trimmed.ok) this.#warn('outputs_not_trimmed', trimmed.error);
    }
    const howToRead = `${READ_OUTPUT} step=${step}`;
    const search = 'query="…" searches them';
    return ok({
      stdout: previewOutput(stdout, `${howToRead} ${search}`),
      stderr: previewOutput(stderr, `${howToRead} stream=stderr ${search}`),
      stdoutPath: stdoutPath.value,
      stderrPath: stderrPath.value,
      howToRead,
    });
  }

  #warn(event: string, {code, message}: Failure): void {
    this.#context.log({level: 'warn', event, message, error_code: code});
  }
}
