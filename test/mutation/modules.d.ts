/** Paths from the root of the project. */
export interface MutatedModule {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
  /** Whether tests that are tagged `slow` are left out. Default: they run. */
  readonly leavesOutSlow?: boolean;
}

export const MODULES: Readonly<Record<string, (root: string) => MutatedModule>>;
