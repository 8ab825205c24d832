/** The short name of a failed system call, such as `ENOSPC`. What is no such failure is a bug and is thrown. */
export function systemCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  throw error;
}
