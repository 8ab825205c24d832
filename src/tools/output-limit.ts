import type {ToolContext} from '../core/tool.ts';

/** Ruling E7: the bytes of compact JSON that an answer may have. */
export function outputLimit({maxOutputBytes, availableCapacityBytes}: ToolContext): number {
  return Math.min(maxOutputBytes, availableCapacityBytes);
}
