import type {Budget} from '../../../core/budget.ts';
import {fail} from '../../../core/failure/fail.ts';
import type {Failure} from '../../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../../core/result.ts';
import type {HostResolver} from './host-resolver.ts';

/**
 * FR-WF-06: the answers for a name, without duplicates and zones, not checked yet.
 *
 * Errors: `dns_failed` (FR-WF-06c), `timeout`, `cancelled`.
 */
export async function resolveHost(
  name: string,
  resolver: HostResolver,
  budget: Budget,
): Promise<Result<readonly string[]>> {
  budget.enter('dns');
  if (budget.spent) return budget.failure();
  try {
    const answers = await budget.race(resolver.resolve(name, budget.signal));
    if (!answers.ok) return answers;
    if (answers.value.length === 0) return dnsFailed(name, 'ENODATA');
    return ok([...new Set(answers.value.map(withoutZone))]);
  } catch (error) {
    return budget.spent ? budget.failure() : dnsFailed(name, codeOf(error));
  }
}

/** The zone of a scoped answer (`fe80::1%eth0`) names an interface of this machine: nothing to connect by. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

function dnsFailed(host: string, error: string): Err<Failure> {
  const message = `"${host}" could not be resolved (${error}). Check the spelling; retry if it is right.`;
  return fail('dns_failed', message, {host, error});
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
}
