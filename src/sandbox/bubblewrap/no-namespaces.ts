import type {Result} from '../../core/result.ts';
import {sandboxFailure} from '../sandbox-failure.ts';

/** `words` are those of bubblewrap. */
export function noNamespaces(words: string): Result<never> {
  return sandboxFailure({
    problem: 'bubblewrap could not make its namespaces',
    remedy:
      'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; inside a container, run that with --privileged), or use Docker.',
    error: words,
  });
}
