import {livenessOf, ownIdentity, type ProcessIdentity} from '../../system/process-identity.ts';
import type {DockerClient} from './docker-client.ts';

/** On every container of ours. */
const OURS = 'forge-tools=run';
const OWNER = 'forge-tools.owner';
const LIST_TIMEOUT_MS = 10_000;
const REMOVE_TIMEOUT_MS = 60_000;

/** Says of a container that it is ours, and of which process. */
export function ownerLabels(): readonly string[] {
  return ['--label', OURS, '--label', `${OWNER}=${JSON.stringify(ownIdentity())}`];
}

/**
 * review R14: a container ends when nobody holds its standard input. One whose client was killed together with its
 * host, before it was started, has no process that could see that: it is removed here, with whatever else is left of
 * hosts that are gone. Resolves when that is done or the daemon does not answer; the next session tries again.
 */
export async function removeStaleContainers(client: DockerClient): Promise<void> {
  const format = `{{.ID}} {{.Label "${OWNER}"}}`;
  const args = ['ps', '--all', '--no-trunc', '--filter', `label=${OURS}`, '--format', format];
  const listed = await client.ask(args, LIST_TIMEOUT_MS);
  if (!listed.ok) return;
  const stale = listed.stdout.split('\n').flatMap(line => {
    const [id = '', ...owner] = line.split(' ');
    return isGone(owner.join(' ')) ? [id] : [];
  });
  if (stale.length > 0) await client.ask(['rm', '--force', ...stale], REMOVE_TIMEOUT_MS);
}

/** Of another machine, or of another namespace of processes: whoever counts there knows. */
function isGone(label: string): boolean {
  const owner = parseOwner(label);
  return owner !== undefined && livenessOf(owner) === 'gone';
}

function parseOwner(label: string): ProcessIdentity | undefined {
  try {
    const {pid, started, host, namespace} = JSON.parse(label);
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return {pid, started: String(started), host: String(host), namespace: String(namespace)};
  } catch {
    return undefined;
  }
}
