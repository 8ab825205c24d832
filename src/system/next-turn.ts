/** Lets everything run that waits for the event loop, for work that would keep the thread too long otherwise. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
