/** The code of a failed system call, such as `ENOENT`; `undefined` for anything else, which is a bug. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The same where a bug is to be thrown on. Codes of Node's own (`ERR_FS_FILE_TOO_LARGE`) count too. */
export function expectedErrorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  throw error;
}

/** For messages: the code where there is one, else what the error says. */
export function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
