import {z} from 'zod';
import {ok} from '../core/result.ts';
import {defineTool, type Tool} from '../core/tool.ts';
import {compileGlob} from '../workspace/glob/compile-glob.ts';
import {limitCall} from '../workspace/limit-call.ts';
import {walkTree} from '../workspace/walk-tree.ts';
import {READING} from './annotations.ts';
import {OUTER_MS} from './outer-bound.ts';
import {outputLimit} from './output-limit.ts';
import {readingIntent} from './reading-intent.ts';
import {schemaOf} from './schema.ts';
import {suggestSimilar} from './suggest-similar.ts';
import {takeWithin} from './take-within.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** Tool API, list_files. */
const TIMEOUT_MS = 30_000;
const MAX_FILES = 1000;
/** The answer without its files. */
const FRAME_BYTES = 100;

const params = z.strictObject({
  root: z.string().min(1).default('.').describe('Directory to list, relative to the workspace.'),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Only files that fit, such as "*.py" (at every level) or "src/**/*.ts". "!" first leaves out instead.',
    ),
  respect_gitignore: z
    .boolean()
    .default(false)
    .describe('Leave out hidden files and what .gitignore files ignore.'),
});

const data = z.object({
  files: z.array(z.string()).describe('Paths relative to root, in bytewise order.'),
  truncated: z.boolean(),
  total_files: z.int().describe('All files that fit, also those not listed.'),
});

export function listFilesTool(session: WorkspaceSession): Tool {
  const {workspace, clock} = session;
  return defineTool({
    name: 'list_files',
    title: 'List files',
    description:
      'Lists the files below a directory of the workspace, recursively and sorted, at most 1000 of them. ' +
      'Use it to see what is there; use glob to find files by name and search to find them by content.',
    annotations: READING,
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: undefined,
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    intend: async ({root, glob}) => {
      const path = workspace.resolve(root);
      if (!path.ok) return path;
      return readingIntent(path.value, `list_files ${path.value}${glob === undefined ? '' : ` (${glob})`}`);
    },
    execute: async (request, context) => {
      const root = workspace.resolve(request.root);
      if (!root.ok) return root;
      const glob = request.glob === undefined ? ok(undefined) : compileGlob(request.glob, 'glob');
      if (!glob.ok) return glob;
      const {signal} = context;
      const walked = await limitCall({tool: 'list_files', timeoutMs: TIMEOUT_MS, clock, signal}, deadline =>
        walkTree(workspace, root.value, {
          glob: glob.value,
          respectGitignore: request.respect_gitignore,
          leaveOutHidden: request.respect_gitignore,
          maxFiles: MAX_FILES,
          deadline,
        }),
      );
      if (!walked.ok) return suggestSimilar(session, walked, signal);
      const {total} = walked.value;
      const files = [...takeWithin(walked.value.files, outputLimit(context) - FRAME_BYTES)];
      return ok({files, truncated: files.length < total, total_files: total});
    },
    renderText: ({files, truncated, total_files}) => {
      if (total_files === 0) return 'No files.';
      const more = truncated
        ? [`[${files.length} of ${total_files} files; narrow root or glob to see the others]`]
        : [];
      return [...files, ...more].join('\n');
    },
  });
}
