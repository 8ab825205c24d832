// The tool list_files: lists files, and folds ignored and deep directories.
import {z} from 'zod';
import {type Json, ok} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import {compileGlob} from '../../workspace/walk/glob.ts';
import {sortBytewise} from '../../workspace/walk/tree-walk.ts';
import {type WalkedTree, walkTree} from '../../workspace/walk/walk-tree.ts';
import {outputLimit, readingTool} from '../define-tool.ts';
import type {WorkspaceSession} from './session.ts';

/** Tool API, list_files. */
const MAX_FILES = 1000;
/** The answer without its files. */
const FRAME_BYTES = 100;

const params = z.strictObject({
  root: z.string().min(1).default('.').describe('Directory to list.'),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Only files that fit, such as "*.py" (at every level) or "src/**/*.ts". "!" first leaves out instead.',
    ),
  respect_gitignore: z.boolean().default(false).describe('Leave out hidden and ignored files.'),
  depth: z.int().min(1).max(100).optional().describe('Levels to list, from 1; deeper files are counted.'),
});

const directory = z.object({
  path: z.string().describe('Relative to root, with a slash at the end.'),
  files: z.int().describe('At every level below it.'),
  ignored: z.literal(true).exactOptional().describe('A .gitignore file ignores it.'),
});

const data = z.object({
  files: z.array(z.string()).describe('Paths relative to root, in bytewise order.'),
  truncated: z.boolean(),
  total_files: z.int().describe('All files that fit, also those not listed.'),
  directories: z
    .array(directory)
    .exactOptional()
    .describe('Directories that the text shows as one line: ignored ones, and what lies deeper than depth.'),
  own_files: z
    .array(z.string())
    .exactOptional()
    .describe('Where files is cut: the first ones that lie in no ignored directory.'),
});

export function listFilesTool(session: WorkspaceSession): Tool {
  return readingTool(session, {
    name: 'list_files',
    title: 'List files',
    description:
      'Lists files recursively, sorted, at most 1000; the text folds ignored directories. To find: glob by name, search by content.',
    params,
    data,
    timeoutMs: 30_000,
    path: ({root}) => root,
    summary: ({glob}, path) => `${path}${glob === undefined ? '' : ` (${glob})`}`,
    read: async (path, request, context, deadline) => {
      const glob = request.glob === undefined ? ok(undefined) : compileGlob(request.glob, 'glob');
      if (!glob.ok) return glob;
      const walked = await walkTree(session.workspace, path, {
        glob: glob.value,
        ignored: request.respect_gitignore ? 'left-out' : 'marked',
        leaveOutHidden: request.respect_gitignore,
        maxFiles: MAX_FILES,
        depth: request.depth,
        deadline,
      });
      return walked.ok ? ok(answerOf(walked.value, outputLimit(context) - FRAME_BYTES)) : walked;
    },
    renderText,
  });
}

/** Fills the room with what helps most: directories, then files. */
function answerOf({files, ownFiles, folded, total, shallow}: WalkedTree, room: number): z.infer<typeof data> {
  const all = Array.from(folded, ([path, {files: inside, isIgnored}]) => ({
    path,
    files: inside,
    ...(isIgnored ? {ignored: true as const} : {}),
  }));
  const directories = [...takeWithin(all.slice(0, MAX_FILES), room / 4)];
  const left = directories.length === 0 ? room : room - Buffer.byteLength(JSON.stringify(directories));
  const listed = takeWithin(files, left);
  const isCut = listed.length < files.length || files.length === MAX_FILES;
  const hasIgnored = all.some(({ignored}) => ignored);
  const own = isCut && hasIgnored ? takeWithin(ownFiles, left / 2) : undefined;
  const kept = own === undefined ? listed : takeWithin(files, left / 2);
  return {
    files: [...kept],
    truncated: kept.length < shallow || directories.length < all.length,
    total_files: total,
    ...(directories.length > 0 && {directories}),
    ...(own !== undefined && {own_files: [...own]}),
  };
}

/** Ruling W16: ignored directories are one line each, so that the project is seen. */
function renderText({
  files,
  truncated,
  total_files,
  directories = [],
  own_files,
}: z.infer<typeof data>): string {
  if (total_files === 0) return 'No files.';
  const ignored = directories.filter(one => one.ignored).map(({path}) => path);
  const shown = own_files ?? files.filter(file => !ignored.some(path => file.startsWith(path)));
  const inside = directories.reduce((sum, one) => sum + one.files, 0);
  const lines = sortBytewise([
    ...shown,
    ...directories.map(one => `${one.path} (${count(one.files)}${one.ignored ? ', ignored' : ''})`),
  ]);
  const rest = total_files - inside - shown.length;
  if (!truncated || rest <= 0) return lines.join('\n');
  return [...lines, `[${count(rest)} more; narrow root or glob, or set depth, to see the others]`].join('\n');
}

function count(files: number): string {
  return files === 1 ? '1 file' : `${files.toLocaleString('en')} files`;
}

/** As many of the first items as fit into `maxBytes` of compact JSON. */
export function takeWithin<Item extends Json>(items: readonly Item[], maxBytes: number): readonly Item[] {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) return items.slice(0, index);
  }
  return items;
}
