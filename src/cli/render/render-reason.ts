import {printable} from '../terminal/printable.ts';

/** Which setting or rule decided, and why, on one line. Many reasons name their setting themselves. */
export function renderReason({by, reason}: {readonly by: string; readonly reason: string}): string {
  const text = reason.includes(by) ? reason : `${by}${reason === '' ? '' : `: ${reason}`}`;
  return printable(text).replaceAll('\n', ' ');
}
