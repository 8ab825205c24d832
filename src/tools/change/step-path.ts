/** W7: where the run directory keeps what a step did: `diffs/step_0007.undo.patch`. */
export function stepPath(step: number, extension: 'patch' | 'undo.patch' | 'undo.json'): string {
  return `diffs/step_${String(step).padStart(4, '0')}.${extension}`;
}
