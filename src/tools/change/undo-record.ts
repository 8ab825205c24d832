import {z} from 'zod';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** One state of a file; `null` where there was none. */
const state = z
  .object({
    sha256: hash,
    /** Permission bits; `null` for a new file, which got what the umask left. */
    mode: z.int().min(0).max(0o777).nullable(),
    owner: z.object({uid: z.int().min(0), gid: z.int().min(0)}).nullable(),
  })
  .nullable();

/** `diffs/step_NNNN.undo.json`: the files of a step as they were before and after it. */
export const undoRecord = z.object({
  version: z.literal(2),
  files: z.array(z.object({path: z.string(), before: state, after: state})),
});

export type UndoRecord = z.infer<typeof undoRecord>;

/** Where the run directory keeps a content that a step replaced or removed, under its own hash. */
export function oldContentPath(sha256: string): string {
  return `old/${sha256}`;
}
