/** Ends a run of a target that broke its promise. */
export function expectThat(holds, what, ...values) {
  if (holds) return;
  throw new Error([what, ...values.map(value => JSON.stringify(value) ?? String(value))].join(' '));
}
