/** GNU patch as it is asked: an absolute path, as nothing is looked up in a `PATH`, and its arguments. */
export const GNU_PATCH = '/usr/bin/patch';
export const PATCH_ARGUMENTS = [
  '-p1',
  '-u',
  '--force',
  '--fuzz=0',
  '--no-backup-if-mismatch',
  '--silent',
] as const;
