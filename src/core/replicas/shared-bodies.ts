import type {Failure} from '../failure/failure.ts';

/** The right to make what is under a name, which one replica has at a time. It is renewed until it ends. */
export interface Turn {
  /** False if it was not kept: somebody has put a newer one, or there is no room. */
  readonly put: (bytes: Uint8Array, ttlMs: number) => Promise<boolean>;
  /** Lets those who wait know. Then another replica may have the next one. */
  readonly end: () => Promise<void>;
}

export type Obtained =
  | {
      readonly kind: 'found';
      readonly bytes: Buffer;
      /** What is newer has a higher one. */
      readonly fence: number;
      /** How long it is kept on. */
      readonly leftMs: number;
    }
  | {readonly kind: 'turn'; readonly turn: Turn}
  /** One makes it by oneself: what is shared is gone (`unavailable`) or slow, or others took too long. */
  | {readonly kind: 'alone'; readonly unavailable: boolean}
  | {readonly kind: 'failed'; readonly error: Failure};

export interface ObtainTerms {
  readonly signal: AbortSignal;
  /** How long others are waited for. */
  readonly waitMs: number;
  /** The fence of a body that was found and could not be used. */
  readonly above?: number;
  /** What is there does not count, and nobody is waited for. */
  readonly anew?: boolean;
}

/** Ruling S1: bodies by name, each made once for all replicas. What comes out is a stranger's: check it. */
export interface SharedBodies {
  readonly obtain: (name: string, terms: ObtainTerms) => Promise<Obtained>;
}
