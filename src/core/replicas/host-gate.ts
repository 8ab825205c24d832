import type {Result} from '../result.ts';

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
