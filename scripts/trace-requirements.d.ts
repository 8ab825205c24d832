import type {Project} from './read-project.js';

export interface Requirement {
  readonly id: string;
  /** What holds, in one sentence. */
  readonly says: string;
  /** Ends of the paths of modules that hold it without citing it. */
  readonly code?: readonly string[];
  /** Test ids, or beginnings of titles, that prove it without naming it. */
  readonly tests?: readonly string[];
  /** Beginnings of titles that are still to come. */
  readonly expected?: readonly string[];
  /** What is not so until those tests are there. */
  readonly lacks?: string;
  /** Not built, or not wholly, in this version. */
  readonly planned?: boolean;
}

export interface RequirementGroup<Entry = Requirement> {
  readonly document: string;
  readonly title: string;
  readonly entries: readonly Entry[];
}

export interface TracedRequirement extends Omit<Requirement, 'code'> {
  readonly code: readonly string[];
  readonly proofs: readonly {readonly ref: string; readonly paths: readonly string[]}[];
  /** A test of `expected` is missing. */
  readonly isAwaited: boolean;
}

export interface Trace {
  readonly groups: readonly RequirementGroup<TracedRequirement>[];
  /** A sentence for each gap. */
  readonly problems: readonly string[];
  /** Ids of which an expected test is not there yet. */
  readonly awaited: readonly string[];
}

export declare function traceRequirements(groups: readonly RequirementGroup[], project: Project): Trace;
