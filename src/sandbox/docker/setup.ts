// Finds out once what Docker can do on this machine.
import {stat} from 'node:fs/promises';
import {release} from 'node:os';
import {ok, type Result} from '../../core/result.ts';
import {findProgram} from '../../system/find-program.ts';
import {bootId} from '../../system/process.ts';
import {engineElsewhere} from '../egress-channel.ts';
import {type RelayRuntime, relayRuntime} from '../egress-relay.ts';
import {programPlaces} from '../env.ts';
import type {RunOptions} from '../options.ts';
import type {SandboxHost} from '../sandbox.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {DockerClient} from './client.ts';

const ASK_TIMEOUT_MS = 10_000;

/** What is found out once for a session. */
export interface DockerSetup {
  readonly client: DockerClient;
  /** The id of the image, so that a tag that moves changes nothing. */
  readonly image: string;
  /** `UID:GID` of the commands. */
  readonly user: string;
  readonly description: string;
  /** Node of the host for containers, where there is a way out. */
  readonly relay: RelayRuntime | undefined;
  readonly bootId: string;
}

export async function dockerSetup(options: RunOptions, host: SandboxHost): Promise<Result<DockerSetup>> {
  const program = await findProgram('docker', programPlaces(host));
  if (program === undefined) {
    return sandboxFailure({
      problem: 'The docker client is not installed',
      remedy: 'apt-get install docker.io, or use tools.run.sandbox = "bubblewrap".',
    });
  }
  const client = new DockerClient(program, host.env, [host.workspace]);
  const info = await client.ask(['info', '--format', '{{json .}}'], ASK_TIMEOUT_MS);
  const daemon = info.ok ? parseInfo(info.stdout) : undefined;
  if (daemon === undefined) {
    return sandboxFailure({
      problem: 'No Docker daemon answers',
      remedy: 'start it (systemctl start docker), check DOCKER_HOST and that this user may use it.',
      error: info.stderr,
    });
  }
  if (!daemon.limitsMemory || !daemon.limitsProcesses) {
    return sandboxFailure({
      problem: 'The Docker daemon cannot limit memory and processes',
      remedy:
        'give the daemon the memory and pids controllers (rootless: systemd delegation), or use bubblewrap.',
    });
  }
  if (daemon.storage === 'vfs') {
    const message =
      'Docker uses the vfs storage driver, which copies the image for every container. Use overlay2.';
    host.log({level: 'warn', event: 'sandbox_slow_storage', message});
  }
  const name = options.docker.image;
  const image = await client.ask(['image', 'inspect', '--format', '{{.Id}}', name], ASK_TIMEOUT_MS);
  if (!image.ok) {
    return sandboxFailure({
      problem: `The image ${JSON.stringify(name)} is not there`,
      remedy: `docker pull ${name}, or name another one in tools.run.docker.image.`,
      error: image.stderr,
    });
  }
  const relay = host.egress === undefined ? ok(undefined) : await findRelay(daemon);
  if (!relay.ok) return relay;
  return ok({
    client,
    relay: relay.value,
    image: image.stdout.trim(),
    user: options.docker.user || (await workspaceUser(daemon.isRootless, host.workspace)),
    description: `Docker ${daemon.version}, image ${name}`,
    bootId: bootId(),
  });
}

async function findRelay({kernel}: Daemon): Promise<Result<RelayRuntime>> {
  if (kernel !== release()) return engineElsewhere();
  try {
    return ok(await relayRuntime(process.execPath));
  } catch (error) {
    return sandboxFailure({
      problem: `The libraries of ${process.execPath} could not be listed, which relays for commands (tools.run.egress)`,
      remedy: 'run forge-tools with a Node of the system, or use tools.run.sandbox = "bubblewrap".',
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

/** In a rootless daemon, the root of a container is the user who runs the daemon. */
async function workspaceUser(isRootless: boolean, workspace: string): Promise<string> {
  if (isRootless) return '0:0';
  const {uid, gid} = await stat(workspace);
  return `${uid}:${gid}`;
}

interface Daemon {
  readonly version: string;
  readonly storage: string;
  readonly kernel: string;
  readonly limitsMemory: boolean;
  readonly limitsProcesses: boolean;
  readonly isRootless: boolean;
}

function parseInfo(text: string): Daemon | undefined {
  try {
    const info = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof info['ServerVersion'] !== 'string' || info['ServerVersion'] === '') return undefined;
    return {
      version: info['ServerVersion'],
      storage: String(info['Driver']),
      kernel: String(info['KernelVersion']),
      limitsMemory: info['MemoryLimit'] === true,
      limitsProcesses: info['PidsLimit'] === true,
      isRootless: JSON.stringify(info['SecurityOptions'] ?? []).includes('rootless'),
    };
  } catch {
    return undefined;
  }
}
