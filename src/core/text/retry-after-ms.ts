/** RFC 9110 §10.2.3: seconds or an HTTP date, as milliseconds from `now`; `undefined` for what is neither. */
export function retryAfterMs(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse would read much that is no HTTP date, and that without a zone as local time.
  const date = /^[A-Z][a-z]{2,8}, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
