// The settings below `[tools.mcp]`, and how problems of a peer are logged.
import {type Log, silentLog} from '../core/log.ts';
import {choice, integer, own, section} from '../core/setting.ts';

/** Ruling H8: `[tools.mcp]`. */
// biome-ignore format: a setting is a line
export const mcpSection = own(section('Serving the tools over the Model Context Protocol.', {
  results: choice(['both', 'text'], '`text` leaves out `structuredContent` and `outputSchema`; the text says the same and is shorter. Every profile sets it. The text of web_fetch is its JSON in both.'),
  max_result_bytes: integer(65_536, [1024, 104_857_600, 'bytes'], 'Largest answer over MCP, as compact JSON, if smaller than `tools.output.max_bytes`: clients cut or refuse longer ones. `read_file` then shows shorter halves. web_fetch has its own limits.'),
}));

/** What a peer did wrong, without what it sent: that may hold secrets, and follows the colon. */
export function logProblem(log: Log = silentLog): (error: Error) => void {
  return ({message}) => {
    const [what = ''] = message.split(/[:{"\n]/, 1);
    log({level: 'warn', event: 'mcp_problem', message: what.trim().slice(0, 200)});
  };
}
