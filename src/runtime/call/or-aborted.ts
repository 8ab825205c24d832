/** Waits for `work` or for the signal. What `work` throws is thrown on; a late result is dropped. */
export async function orAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<{readonly value: Value} | 'aborted'> {
  let onAbort: () => void = () => {};
  const aborted = new Promise<'aborted'>(resolve => {
    onAbort = () => resolve('aborted');
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, {once: true});
  });
  try {
    return await Promise.race([aborted, work.then(value => ({value}))]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    work.catch(() => {});
  }
}
