import {type Log, silentLog} from '../core/log.ts';

/** What a peer did wrong, without what it sent: that may hold secrets, and follows the colon. */
export function logProblem(log: Log = silentLog): (error: Error) => void {
  return ({message}) => {
    const [what = ''] = message.split(/[:{"\n]/, 1);
    log({level: 'warn', event: 'mcp_problem', message: what.trim().slice(0, 200)});
  };
}
