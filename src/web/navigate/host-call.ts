import type {HostPins} from '../guard/host-pins.ts';
import type {RenderingMethod} from '../page.ts';
import type {HostReach} from './host-reach.ts';

/** What one call knows of hosts, and hands along to every hop. */
export interface HostCall {
  /** Ruling A5: one resolution of a host for the whole call. */
  readonly pins: HostPins;
  /** Review R11 */
  readonly reach: HostReach;
  /**
   * Whether what the operator opened (`allow_private`) holds for this call. It does as long as every address of its
   * main document was opened: a page of the public web leads nobody to a private one.
   */
  readonly openings: {hold: boolean};
  /** How the call begins, for the lines that are logged. */
  readonly method: RenderingMethod;
}
