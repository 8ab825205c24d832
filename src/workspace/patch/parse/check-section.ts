import type {Hunk, PatchSection} from '../patch.ts';
import {stripPrefix} from './header-names.ts';
import type {Report, SectionHeader} from './section-header.ts';

/** Puts header and hunks together; reports each contradiction between them. */
export function checkSection(
  header: SectionHeader,
  hunks: readonly Hunk[],
  report: Report,
): PatchSection | undefined {
  const {line} = header;
  const refuse = (reason: string): undefined => {
    report(line, reason);
    return undefined;
  };
  if (header.old !== undefined && header.old.written === undefined && header.new?.written === undefined) {
    return refuse('both names are /dev/null');
  }
  const names = pathsOf(header, hunks);
  if ('problem' in names) return refuse(names.problem);
  const {from, to} = names;
  const disagreement = disagreementOf(header, from, to);
  if (disagreement !== undefined) return refuse(disagreement);

  if (from === undefined && to !== undefined) {
    if (hunks.length > 1 || hunks.some(hunk => hunk.lines.some(it => it.kind !== '+'))) {
      return refuse('a new file has one hunk, and only "+" lines in it');
    }
    return {kind: 'create', line, path: to, hunks, executable: header.createdMode === '100755'};
  }
  if (from !== undefined && to === undefined) {
    if (hunks.length > 1 || hunks.some(hunk => hunk.lines.some(it => it.kind !== '-'))) {
      return refuse('a deletion has one hunk with the whole file as "-" lines, and nothing else in it');
    }
    return {kind: 'delete', line, path: from, hunks};
  }
  if (from === undefined || to === undefined)
    return refuse('the names of the file cannot be told from the header');
  const executable = header.newMode === undefined ? undefined : header.newMode === '100755';
  if (from !== to) return {kind: 'rename', line, path: to, from, hunks, executable};
  if (hunks.length === 0 && executable === undefined)
    return refuse('the section has no hunks, so it changes nothing');
  return {kind: 'modify', line, path: to, hunks, executable};
}

interface Paths {
  /** Undefined for a new file. */
  readonly from: string | undefined;
  /** Undefined for a deleted one. */
  readonly to: string | undefined;
}

function pathsOf(header: SectionHeader, hunks: readonly Hunk[]): Paths | {readonly problem: string} {
  if (header.old !== undefined && header.new !== undefined) return pathsOfNameLines(header, hunks);
  if (hunks.length > 0) return {problem: 'hunks need a "--- a/PATH" and a "+++ b/PATH" line before them'};
  if (header.renameFrom !== undefined && header.renameTo !== undefined) {
    return {from: header.renameFrom, to: header.renameTo};
  }
  if (header.git === undefined) {
    return {
      problem:
        'the names on the "diff --git" line cannot be told apart; it must read "diff --git a/PATH b/PATH"',
    };
  }
  return {
    from: header.createdMode === undefined ? header.git.old : undefined,
    to: header.deletedMode === undefined ? header.git.new : undefined,
  };
}

function pathsOfNameLines(header: SectionHeader, hunks: readonly Hunk[]): Paths | {readonly problem: string} {
  const oldWritten = header.old?.written;
  const newWritten = header.new?.written;
  let from: string | undefined;
  let to: string | undefined;
  if (oldWritten !== undefined) {
    const stripped = stripPrefix(oldWritten, newWritten);
    if ('problem' in stripped) return stripped;
    from = stripped.value;
  }
  if (newWritten !== undefined) {
    const stripped = stripPrefix(newWritten, oldWritten);
    if ('problem' in stripped) return stripped;
    to = stripped.value;
  }
  const every = (kind: string): boolean => hunks.every(hunk => hunk.lines.every(line => line.kind === kind));
  if (header.old?.epoch && to !== undefined && every('+')) return {from: undefined, to};
  if (header.new?.epoch && from !== undefined && every('-')) return {from, to: undefined};
  return {from, to};
}

/** GNU patch follows `---`/`+++`, git its own header: both must say the same. */
function disagreementOf(
  header: SectionHeader,
  from: string | undefined,
  to: string | undefined,
): string | undefined {
  if (from === '' || to === '') return 'the path is empty';
  const {git, renameFrom, renameTo} = header;
  if ((renameFrom === undefined) !== (renameTo === undefined))
    return '"rename from" and "rename to" go together';
  if ((header.oldMode === undefined) !== (header.newMode === undefined))
    return '"old mode" and "new mode" go together';
  if (git !== undefined && (git.old !== (from ?? to) || git.new !== (to ?? from))) {
    return 'the "diff --git" line and the other header lines name different files';
  }
  if (renameFrom !== undefined && (renameFrom !== from || renameTo !== to || from === to)) {
    return 'the "rename" lines and the other header lines name different files, or one file twice';
  }
  if (renameFrom === undefined && from !== undefined && to !== undefined && from !== to) {
    return `the old name ${JSON.stringify(from)} and the new name ${JSON.stringify(to)} differ; a rename needs "rename from" and "rename to" lines after a "diff --git" line`;
  }
  if (header.createdMode !== undefined && from !== undefined) return '"new file mode" needs "--- /dev/null"';
  if (header.deletedMode !== undefined && to !== undefined)
    return '"deleted file mode" needs "+++ /dev/null"';
  return undefined;
}
