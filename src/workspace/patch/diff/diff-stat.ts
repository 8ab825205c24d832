import type {FileDiff} from './render-unified.ts';

export interface DiffStat {
  readonly files: readonly {
    readonly path: string;
    readonly added: number;
    readonly removed: number;
  }[];
  readonly added: number;
  readonly removed: number;
}

/** How many lines come and go, by file and in all. */
export function diffStat(diffs: readonly FileDiff[]): DiffStat {
  const files = diffs.map(({path, added, removed}) => ({path, added, removed}));
  const sum = (pick: 'added' | 'removed'): number => files.reduce((total, file) => total + file[pick], 0);
  return {files, added: sum('added'), removed: sum('removed')};
}
