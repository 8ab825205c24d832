import {z} from 'zod';
import {backgroundState} from './background/background-data.ts';

/** What `read_output` answers. */
export const outputData = z.object({
  step: z.int(),
  stream: z.enum(['stdout', 'stderr']),
  total_lines: z.int(),
  complete: z.boolean().describe('False where something of the output was not kept.'),
  start_line: z.int(),
  end_line: z.int().describe('Last line that is shown, or that was searched.'),
  content: z.string().exactOptional(),
  matches: z
    .array(
      z.object({
        line: z.int(),
        content: z.string(),
        context_before: z.array(z.string()),
        context_after: z.array(z.string()),
      }),
    )
    .exactOptional(),
  total_matches: z.int().exactOptional(),
  truncated: z.boolean(),
  background: backgroundState
    .exactOptional()
    .describe('There if the command was started in the background by this process.'),
  unseen: z.int().exactOptional().describe('Lines of the other stream that were not shown yet.'),
  next: z.object({start_line: z.int()}).exactOptional().describe('Where to go on.'),
});

export type OutputData = z.output<typeof outputData>;
