import {z} from 'zod';

/** What `run` answers. */
export const runData = z.object({
  exit_code: z
    .int()
    .nullable()
    .describe(
      '0 is success. Other codes are an answer, not a failure of the tool. null: it runs in the background.',
    ),
  stdout: z.string().describe('Head and tail of the standard output, as text.'),
  stderr: z.string().describe('Head and tail of the standard error, as text.'),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  stdout_bytes: z.int().min(0).describe('What was written altogether.'),
  stderr_bytes: z.int().min(0),
  stdout_path: z.string().describe('Up to 100 KiB of it, below the run directory.'),
  stderr_path: z.string(),
  duration_sec: z.number().min(0),
  sandbox: z.enum(['docker', 'bubblewrap', 'none']),
  left_running: z
    .array(z.string())
    .readonly()
    .describe('Background processes that were killed when the command had ended.'),
  repositories: z
    .array(z.string())
    .readonly()
    .exactOptional()
    .describe(
      'Directories in which a git repository has appeared. Git runs what its settings say: look before you use it there.',
    ),
  repositories_complete: z
    .literal(false)
    .exactOptional()
    .describe('There if the tree was too large to look for all of them.'),
  background: z
    .object({step: z.int(), max_life_sec: z.number()})
    .exactOptional()
    .describe('There if it runs on. Its step is what read_output, wait_for and stop_run take.'),
  note: z
    .string()
    .exactOptional()
    .describe('Why something failed that the sandbox or a setting does not allow.'),
});

export type RunData = z.output<typeof runData>;
