import type {ToolAnnotations} from '../core/tool.ts';

/** Of tools that look at the workspace. */
export const READING: ToolAnnotations = {
  readOnly: true,
  destructive: false,
  idempotent: true,
  openWorld: false,
};
