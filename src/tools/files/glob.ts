// The tool glob: finds files by their path.
import {z} from 'zod';
import {ok} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import {compileGlob} from '../../workspace/walk/glob.ts';
import {walkTree} from '../../workspace/walk/walk-tree.ts';
import {outputLimit, readingTool} from '../define-tool.ts';
import {takeWithin} from './list-files.ts';
import type {WorkspaceSession} from './session.ts';

/** As for list_files. */
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
  return readingTool(session, {
    name: 'glob',
    title: 'Find files by name',
    description:
      'Finds files by path, at most 1000: hidden ones too, ignored ones not. search finds them by content.',
    params,
    data,
    timeoutMs: 30_000,
    path: ({root}) => root,
    summary: ({pattern}, path) => `${pattern} in ${path}`,
    read: async (path, request, context, deadline) => {
      const glob = compileGlob(request.pattern, 'pattern');
      if (!glob.ok) return glob;
      const found = await walkTree(session.workspace, path, {
        glob: glob.value,
        ignored: request.include_ignored ? undefined : 'counted',
        maxFiles: MAX_FILES,
        deadline,
      });
      if (!found.ok) return found;
      const prefix = path === '.' ? '' : `${path}/`;
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
