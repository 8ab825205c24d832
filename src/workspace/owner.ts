/** Whose a file is. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}
