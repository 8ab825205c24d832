import type {Promised} from './promises.js';

export interface ReportedTest {
  /** From the root of the project. */
  readonly file: string;
  readonly title: string;
  readonly status: string;
}

export declare function renderPromises(promises: readonly Promised[], tests: readonly ReportedTest[]): string;
