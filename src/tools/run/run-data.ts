// The schema of what `run` answers, and how its parts are filled.
import {z} from 'zod';
import type {ToolContext} from '../../core/tool.ts';
import type {RunOutcome} from '../../sandbox/sandbox.ts';

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
  stdout_bytes: z.int().min(0).describe('Total size of the output.'),
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
  git_settings: z
    .array(z.string())
    .readonly()
    .exactOptional()
    .describe(
      'Files of git repositories below the root that the command changed, and that git executes or is configured by.',
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

/** What git would do in a directory is not what it did before: the reader looks before using git there. */
export type ChangedRepositories = Pick<RunData, 'repositories' | 'git_settings' | 'repositories_complete'>;

type Found = Pick<RunOutcome, 'repositories' | 'gitSettings'>;

/** W11: however the command ended. */
export function changedRepositories({repositories, gitSettings}: Found): ChangedRepositories {
  return {
    ...(repositories.paths.length > 0 && {repositories: repositories.paths}),
    ...(gitSettings.paths.length > 0 && {git_settings: gitSettings.paths}),
    ...(!(repositories.complete && gitSettings.complete) && {repositories_complete: false as const}),
  };
}

/** For the log. */
export async function sayRepositories(
  {repositories, gitSettings}: Found,
  context: Pick<ToolContext, 'emit'>,
): Promise<void> {
  if (repositories.paths.length > 0) await context.emit('repositories_appeared', {...repositories});
  if (gitSettings.paths.length > 0) await context.emit('git_settings_changed', {...gitSettings});
}

/** A line for each kind of change. */
export function describeRepositories({
  repositories,
  git_settings,
  repositories_complete,
}: ChangedRepositories): readonly string[] {
  return [
    ...(repositories === undefined ? [] : [`git repositories have appeared in: ${repositories.join(', ')}`]),
    ...(git_settings === undefined
      ? []
      : [`git executes or is configured by what has changed: ${git_settings.join(', ')}`]),
    ...(repositories_complete === false
      ? ['The tree is too large to look for all git repositories that have appeared.']
      : []),
  ];
}
