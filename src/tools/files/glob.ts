import {z} from 'zod';
import {ok} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import {compileGlob} from '../../workspace/glob/compile-glob.ts';
import {limitCall} from '../../workspace/limit-call.ts';
import {walkTree} from '../../workspace/walk/walk-tree.ts';
import {READING} from '../annotations.ts';
import {OUTER_MS} from '../outer-bound.ts';
import {outputLimit} from '../output-limit.ts';
import {schemaOf} from '../schema.ts';
import {readingIntent} from './reading-intent.ts';
import {suggestSimilar} from './suggest-similar.ts';
import {takeWithin} from './take-within.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** As for list_files. */
const TIMEOUT_MS = 30_000;
const MAX_FILES = 1000;
const FRAME_BYTES = 100;

const params = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe('Such as "*.py" (at every level), "src/**/*.{ts,tsx}"; "!" first leaves out.'),
  root: z.string().min(1).default('.').describe('Directory where it holds.'),
  include_ignored: z.boolean().default(false).describe('Also ignored files.'),
});

const data = z.object({
  files: z.array(z.string()).describe('Paths relative to the workspace, in bytewise order.'),
  truncated: z.boolean(),
  ignored_files: z.int().exactOptional().describe('How many more fit and are ignored.'),
});

export function globTool(session: WorkspaceSession): Tool {
  const {workspace, clock} = session;
  return defineTool({
    name: 'glob',
    title: 'Find files by name',
    description:
      'Finds files by path, at most 1000: hidden ones too, ignored ones not. search finds them by content.',
    annotations: READING,
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: undefined,
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    intend: async ({pattern, root}) => {
      const path = workspace.resolve(root);
      return path.ok ? readingIntent(path.value, `glob ${pattern} in ${path.value}`) : path;
    },
    execute: async (request, context) => {
      const root = workspace.resolve(request.root);
      if (!root.ok) return root;
      const glob = compileGlob(request.pattern, 'pattern');
      if (!glob.ok) return glob;
      const {signal} = context;
      const found = await limitCall({tool: 'glob', timeoutMs: TIMEOUT_MS, clock, signal}, deadline =>
        walkTree(workspace, root.value, {
          glob: glob.value,
          ignored: request.include_ignored ? undefined : 'counted',
          maxFiles: MAX_FILES,
          deadline,
        }),
      );
      if (!found.ok) return suggestSimilar(session, found, signal);
      const prefix = root.value === '.' ? '' : `${root.value}/`;
      const {files, total, ignoredFiles} = found.value;
      const all = files.map(path => `${prefix}${path}`);
      const fitting = takeWithin(all, outputLimit(context) - FRAME_BYTES);
      return ok({
        files: [...fitting],
        truncated: fitting.length < total,
        ...(ignoredFiles > 0 && {ignored_files: ignoredFiles}),
      });
    },
    renderText: ({files: found, truncated, ignored_files = 0}) => {
      const none = truncated ? 'No path fits into the answer.' : 'No files.';
      const lines = found.length === 0 ? [none] : [...found];
      if (truncated) lines.push(`[${firstOf(found.length)}narrow pattern or root to see the others]`);
      if (ignored_files > 0) lines.push(ignoredNote(ignored_files));
      return lines.join('\n');
    },
  });
}

function firstOf(count: number): string {
  if (count === 0) return '';
  return count === 1 ? 'the first file; ' : `the first ${count.toLocaleString('en')} files; `;
}

function ignoredNote(files: number): string {
  return files === 1
    ? '[1 ignored file fits too; include_ignored shows it]'
    : `[${files.toLocaleString('en')} ignored files fit too; include_ignored shows them]`;
}
