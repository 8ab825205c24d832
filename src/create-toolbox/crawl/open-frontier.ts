import type {Config} from '../../config/config-schema.ts';
import {systemClock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Log} from '../../core/log.ts';
import {ok, type Result} from '../../core/result.ts';
import type {
  Added,
  Finish,
  Frontier,
  FrontierUrl,
  JobSettings,
  JobState,
  LeasedUrl,
  Taken,
} from '../../hub/frontier/frontier.ts';
import type {JobStatus} from '../../hub/frontier/job-status.ts';

export type {Added, Finish, Frontier, FrontierUrl, JobSettings, JobState, JobStatus, LeasedUrl, Taken};

export interface OpenFrontier {
  readonly frontier: Frontier;
  readonly close: () => Promise<void>;
}

/**
 * What is left to do of a job, at the engine of `tools.hub`. Fails with `invalid_params` where none is configured or the
 * name is none, and with `hub_unavailable` where the settings cannot be used.
 */
export async function openFrontier(
  {tools}: Config,
  job: string,
  {env, log}: {readonly env: Readonly<Record<string, string | undefined>>; readonly log: Log},
): Promise<Result<OpenFrontier>> {
  if (tools.hub.url === '') {
    return fail(
      'invalid_params',
      'A crawl needs an engine that its workers share. Set tools.hub.url, or fetch a list with "forge-tools fetch --from".',
      {field: 'tools.hub.url', reason: 'missing'},
    );
  }
  const [{openHubConnection}, {isJobName, openFrontier: open}] = await Promise.all([
    import('../../hub/connection.ts'),
    import('../../hub/frontier/frontier.ts'),
  ]);
  if (!isJobName(job)) {
    return fail(
      'invalid_params',
      `A job is named by up to 64 letters, digits, dots, "-" and "_", got ${JSON.stringify(job)}.`,
      {field: 'job', reason: 'not a name'},
    );
  }
  const connection = await openHubConnection(tools.hub, {env, clock: systemClock, log});
  if (!connection.ok) return connection;
  return ok({frontier: open(connection.value, job), close: () => connection.value.close()});
}
