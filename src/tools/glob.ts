import {join} from 'node:path';
import {z} from 'zod';
import {ok, type Result} from '../core/result.ts';
import {defineTool, type Tool} from '../core/tool.ts';
import {compileGlob, type Glob} from '../workspace/glob/compile-glob.ts';
import {isPassedOver} from '../workspace/is-passed-over.ts';
import {type CallTime, limitCall} from '../workspace/limit-call.ts';
import type {WorkspacePath} from '../workspace/workspace-path.ts';
import {READING} from './annotations.ts';
import {OUTER_MS} from './outer-bound.ts';
import {outputLimit} from './output-limit.ts';
import {readingIntent} from './reading-intent.ts';
import {schemaOf} from './schema.ts';
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
    .describe(
      'Pattern such as "*.py" (at every level), "src/**/*.{ts,tsx}" or "docs/**"; "!" first leaves out.',
    ),
  root: z.string().min(1).default('.').describe('Directory in which the pattern holds.'),
});

const data = z.object({
  files: z.array(z.string()).describe('Paths relative to the workspace, in bytewise order.'),
  truncated: z.boolean(),
});

export function globTool(session: WorkspaceSession): Tool {
  const {workspace, files, clock} = session;
  return defineTool({
    name: 'glob',
    title: 'Find files by name',
    description:
      'Finds files of the workspace by a pattern for their paths, hidden and ignored ones included, at most ' +
      '1000 of them. Use search to find files by what is in them.',
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
      const found = await limitCall({tool: 'glob', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
        find(root.value, glob.value, time),
      );
      if (!found.ok) return suggestSimilar(session, found, signal);
      const listed = present(found.value);
      if (!listed.ok) return listed;
      const {files: all, more} = listed.value;
      const fitting = takeWithin(all, outputLimit(context) - FRAME_BYTES);
      return ok({files: [...fitting], truncated: more || fitting.length < all.length});
    },
    renderText: ({files: found, truncated}) => {
      if (found.length === 0) return 'No files.';
      const more = truncated
        ? [`[the first ${found.length} files; narrow pattern or root to see the others]`]
        : [];
      return [...found, ...more].join('\n');
    },
  });

  /** ADR 08: through ripgrep where it can be run, else by going through the files ourselves. */
  async function find(root: WorkspacePath, glob: Glob, time: CallTime): Promise<Result<readonly string[]>> {
    const directory = workspace.openDirectory(root);
    if (!directory.ok) return directory;
    directory.value.close();
    const ripgrep = await session.ripgrep();
    if (ripgrep.ok) {
      const cwd = join(workspace.root, root);
      const {listWithRipgrep} = await import('../workspace/ripgrep/list-with-ripgrep.ts');
      const listed = await listWithRipgrep({...ripgrep.value, cwd}, glob, time.signal);
      if (time.spent) return time.failure();
      const prefix = root === '.' ? '' : `${root}/`;
      if (listed.ok && listed.value !== undefined) return ok(listed.value.map(path => `${prefix}${path}`));
    }
    const {scanFiles} = await import('../workspace/glob/scan-files.ts');
    return scanFiles(files, root, glob, time);
  }

  /**
   * W1: ripgrep goes by names, so somebody may have shown it another directory while it ran. What the jail
   * does not find is not in the answer.
   */
  function present(
    paths: readonly string[],
  ): Result<{readonly files: readonly string[]; readonly more: boolean}> {
    const listed: string[] = [];
    for (const path of paths) {
      const resolved = workspace.resolve(path);
      const info = resolved.ok ? workspace.inspect(resolved.value) : resolved;
      if (!info.ok && !isPassedOver(info.error)) return info;
      if (!info.ok || info.value.kind !== 'file') continue;
      if (listed.length === MAX_FILES) return ok({files: listed, more: true});
      listed.push(path);
    }
    return ok({files: listed, more: false});
  }
}
