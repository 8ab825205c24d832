/** Paths from the root of the project. */
export interface MutatedModule {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

export const MODULES: Readonly<Record<string, (root: string) => MutatedModule>>;
