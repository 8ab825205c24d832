import {foldName} from './fold-name.ts';

const PLAIN = /^[ -~]*$/;
const GIT = /git/i;

/** W1, W11: whether some file system takes the name for `.git`, NTFS short names included. */
export function isProtectedName(name: string): boolean {
  // Nearly all names: folding leaves what is printable ASCII as it is, but for its case.
  if (PLAIN.test(name) && !GIT.test(name)) return false;
  const folded = foldName(name);
  return folded === '.git' || /^git~\d+$/.test(folded);
}
