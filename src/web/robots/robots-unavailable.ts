import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';

interface Circumstances {
  readonly status?: number;
  /** Ruling B1: the origin that a redirect led to, for the caller to try. */
  readonly redirectTarget?: string;
}

/** FR-WF-09a. `reason` is one word, for `details.error`. */
export function robotsUnavailable(
  origin: string,
  reason: string,
  {status, redirectTarget}: Circumstances = {},
): Err<Failure> {
  const details = {origin, error: reason, redirect_target: redirectTarget, status};
  if (redirectTarget !== undefined) {
    return fail(
      'robots_unavailable',
      `The robots.txt of ${origin} redirects to another origin, ${redirectTarget}, so its rules are unknown. Fetch the page from ${redirectTarget} if it is there too.`,
      details,
    );
  }
  const cause = status === undefined ? reason : `${reason}, status ${status}`;
  return fail(
    'robots_unavailable',
    `The robots.txt of ${origin} could not be read (${cause}), so nothing of it may be fetched. Retry later, or choose another source.`,
    details,
  );
}
