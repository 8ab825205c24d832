/** What is collected on the way through a raw configuration, in the order of the schema. */
export interface Findings {
  /** Something else than what was written is used. */
  readonly warnings: string[];
  /** Start-up stops (ruling A9). */
  readonly problems: string[];
}
