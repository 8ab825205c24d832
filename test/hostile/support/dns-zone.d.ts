export interface DnsCase {
  readonly name: string;
  /** What the call may come to; a text that ends in `/` is the beginning of it. */
  readonly expected: readonly string[];
  /** Ended by the deadline. */
  readonly slow?: boolean;
}
export const CASES: readonly DnsCase[];
export const PUBLIC: string;
export const OTHER_PUBLIC: string;
export const PUBLIC_6: string;
