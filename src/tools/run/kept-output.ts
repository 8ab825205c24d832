/** Of one stream. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export type Stream = 'stdout' | 'stderr';

const ARTIFACT = /^tool_step_(\d{4,9})_stdout\.txt$/;

/** Folder of the artifacts of ruling W9. */
export const ARTIFACTS = 'logs';

/** Ruling W9: at most 100 KiB of a stream. */
export function artifactPath(step: number, stream: Stream): string {
  return `${ARTIFACTS}/tool_step_${number(step)}_${stream}.txt`;
}

/** Folder of what is kept whole. */
export const WHOLES = 'output';

/** The whole of a stream, only where its artifact is not; empty once it had to make room for later ones. */
export function wholePath(step: number, stream: Stream): string {
  return `${WHOLES}/step_${number(step)}_${stream}.txt`;
}

/** The steps that were commands, by the names of their artifacts, in order. */
export function stepsOf(names: readonly string[]): readonly number[] {
  return names
    .map(name => ARTIFACT.exec(name)?.[1])
    .filter(step => step !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

function number(step: number): string {
  return String(step).padStart(4, '0');
}
