/** What a loopback name stands for without a resolver; the first is the one reported. */
export const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** Ruling A5, RFC 6761 §6.3: `localhost` and everything below it, in any case, with trailing dots. */
export function isLoopbackName(name: string): boolean {
  return /(?:^|\.)localhost\.{0,2}$/i.test(name);
}
