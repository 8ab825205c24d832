export interface Promised {
  readonly promise: string;
  readonly proofs: readonly string[];
  readonly titles?: RegExp;
}

export declare const PROMISES: readonly Promised[];
