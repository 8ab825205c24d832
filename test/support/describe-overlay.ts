import type {FileState} from '../../src/workspace/change/file-change.ts';
import type {LineNumbers} from '../../src/workspace/patch/apply-hunks.ts';
import {overlayPatch} from '../../src/workspace/patch/overlay.ts';
import {parsePatch} from '../../src/workspace/patch/parse-patch.ts';
import type {WritablePath} from '../../src/workspace/workspace-path.ts';
import {stateOf} from './state-of.ts';

export interface OverlayPlace {
  /** Path → content; `+x` behind the name of what is executable. */
  readonly files: Readonly<Record<string, string>>;
  readonly numbers?: LineNumbers;
}

function filesOf({files}: OverlayPlace): ReadonlyMap<string, FileState> {
  return new Map(
    Object.entries(files).map(([name, content]) => [
      name.replace(/\+x$/, ''),
      stateOf(content, name.endsWith('+x') ? 0o755 : 0o644),
    ]),
  );
}

/** What a patch does to these files, a line for each change and each hunk that was found elsewhere; or its failure. */
export async function describeOverlay(patch: string, place: OverlayPlace): Promise<readonly unknown[]> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const files = filesOf(place);
  const {numbers} = place;
  const overlaid = await overlayPatch(
    {
      resolve: path => ({ok: true, value: path as WritablePath}),
      read: async path => ({ok: true, value: files.get(path)}),
      blockingFile: path =>
        [...files.keys()].find(name => path.startsWith(`${name}/`)) as WritablePath | undefined,
      ...(numbers !== undefined && {lineNumbers: () => numbers}),
    },
    parsed.value.sections,
  );
  if (!overlaid.ok) {
    const {code, message, details} = overlaid.error;
    return [`${code}: ${message}`, details];
  }
  const {changes, offsets} = overlaid.value;
  const shown = (state: FileState): string =>
    `${state.mode === undefined ? '-' : state.mode.toString(8)} ${state.content}`;
  return [
    ...changes.map(({path, from, old, new: fresh}) => {
      const kind = from !== undefined ? 'rename' : old === undefined ? 'create' : fresh ? 'modify' : 'delete';
      const [before, now] = [from === undefined ? '' : `${from} => `, fresh && ` ${shown(fresh)}`];
      return `${kind} ${before}${path}${now ?? ''}`;
    }),
    ...offsets.map(({path, hunk, line, offset}) => `hunk ${hunk} of ${path} at ${line} (${offset})`),
  ];
}
