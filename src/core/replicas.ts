// The ports through which several replicas share hosts and the bodies of pages.
import type {Failure, Result} from './result.ts';

export interface EnterTerms {
  readonly signal: AbortSignal;
  /** How long one waits for the host's turn. */
  readonly waitMs: number;
  /** When the place is free again though nobody has left it, because the process was killed. */
  readonly leaseMs: number;
}

/** Leave to ask a host once. */
export interface HostLease {
  /** Others could not be asked, so this replica's part of the limits holds. */
  readonly unavailable: boolean;
  /** The host was asked. `pauseMs`: it wants to be left alone, by every replica. */
  readonly leave: (pauseMs?: number) => void;
}

/** Ruling S1: which replica may ask which host when. */
export interface HostGate {
  /** Waits for it. Fails with `host_busy`, `cancelled`, or `hub_unavailable` where nobody may go on alone. */
  readonly enter: (host: string, terms: EnterTerms) => Promise<Result<HostLease>>;
}

/** The right to make what is under a name, which one replica has at a time. It is renewed until it ends. */
export interface Turn {
  /** False if it was not kept: somebody has put a newer one, or there is no room. Empty bytes: there is none. */
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
