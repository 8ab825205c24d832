/** `oldCount` lines from `oldStart` on become the `newCount` lines from `newStart` on. Indices from 0. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** A part of both files: lines `oldFrom` to `oldTo` and `newFrom` to `newTo`, the ends excluded. */
export interface Span {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}
