/**
 * Calls back every `ms` until it is stopped; the returned function stops it. It does not keep the process
 * alive: what is to beat as long as the process lives ends with it.
 */
export function every(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms);
  timer.unref();
  return () => clearInterval(timer);
}
