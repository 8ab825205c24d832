/** Does all of it, one after the other. What one step throws is thrown when the others have been done too. */
export async function inOrder(...steps: readonly (() => Promise<void> | undefined)[]): Promise<void> {
  const problems: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems.length === 1 ? problems[0] : new AggregateError(problems);
}
