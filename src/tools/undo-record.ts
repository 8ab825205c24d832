import {z} from 'zod';

const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .nullable();

/** `diffs/step_NNNN.undo.json`: the files of a step, as SHA-256 of their content; `null` for no file. */
export const undoRecord = z.object({
  version: z.literal(1),
  files: z.array(z.object({path: z.string(), before: hash, after: hash})),
});

export type UndoRecord = z.infer<typeof undoRecord>;
