import type {Result} from '../result.ts';

/**
 * Does the work once for all callers and keeps its value. A failure, and a bug that threw, is forgotten: the
 * next caller tries again.
 */
export function rememberSuccess<Value>(work: () => Promise<Result<Value>>): () => Promise<Result<Value>> {
  let remembered: Promise<Result<Value>> | undefined;
  return async () => {
    remembered ??= work();
    const mine = remembered;
    let isKept = false;
    try {
      const result = await mine;
      isKept = result.ok;
      return result;
    } finally {
      // Another caller may have begun anew meanwhile.
      if (!isKept && remembered === mine) remembered = undefined;
    }
  };
}
