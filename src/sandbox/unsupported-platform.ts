import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';

const REMEDY = 'install and start Docker; tools.run.sandbox = "docker" or "auto" takes it.';

/** bubblewrap is Linux alone. Nothing was run. */
export function unsupportedPlatform(platform: string, tried?: readonly string[]): Err<Failure> {
  return fail(
    'unsupported_platform',
    `Without Docker there is no sandbox here: bubblewrap needs Linux on x86-64 or ARM64, this is ${platform}. Nothing was run. To fix it: ${REMEDY}`,
    {platform, remedy: REMEDY, tried},
  );
}
