import type {Lifecycle} from '../core/async/lifecycle.ts';
import {rememberSuccess} from '../core/async/remember-success.ts';
import {closedFailure} from '../core/failure/closed-failure.ts';
import type {Json} from '../core/json.ts';
import type {Result} from '../core/result.ts';
import type {Tool, ToolRequest, ToolResult} from '../core/tool.ts';
import type {CallOptions, ToolHost, ToolListing} from '../core/tool-host.ts';
import {checkRequest} from './call/check-request.ts';
import {unexpectedFailure} from './call/unexpected-failure.ts';
import {unstartedResult} from './call/unstarted-result.ts';
import {executeCall} from './execute-call.ts';
import {type Explanation, explainCall} from './explain-call.ts';
import type {AdvertisedTool} from './registry.ts';
import {renderResult} from './render-result.ts';
import type {Runtime} from './runtime.ts';
import type {Session} from './session.ts';

export interface ToolHostDeps extends Omit<Runtime, 'session'> {
  /** Called at the first call, and again at the next one if it failed. */
  readonly openSession: () => Promise<Result<Session>>;
  /** Takes the calls, and is closed before `closeSession`. */
  readonly lifecycle: Lifecycle;
  readonly tools: readonly Tool[];
}

export interface OpenToolHost extends ToolHost {
  readonly explain: (tool: string, params: Json) => Promise<Result<Explanation>>;
  /** Ends the log of the run. No call may be under way. */
  readonly closeSession: () => Promise<void>;
}

/** What the interfaces call: the registry, and the executor over a session that opens with the first call. */
export function openToolHost(deps: ToolHostDeps): OpenToolHost {
  const {registry, clock, log, tools, lifecycle} = deps;
  const byName = new Map(tools.map(tool => [tool.name, tool]));
  const listings = registry.advertised.map(toListing);
  let opened: Session | undefined;
  // Somebody may make room for the run directory meanwhile, or move a damaged file away.
  const session = rememberSuccess(async () => {
    const result = await deps.openSession();
    if (result.ok) opened = result.value;
    return result;
  });

  const call = async (request: ToolRequest, options: CallOptions): Promise<ToolResult> => {
    const opening = await session();
    if (!opening.ok) return unstartedResult(request, opening.error, clock);
    return executeCall(request, options, {...deps, session: opening.value});
  };

  return {
    listTools: () => listings,
    // NFR-WF-REL-02: the edge of the host. What no call could catch ends here.
    call: async (given, options = {}) => {
      const {request, problem} = checkRequest(given);
      if (problem !== undefined) return unstartedResult(request, problem.error, clock);
      try {
        const result = await lifecycle.run(options.signal, signal => call(request, {...options, signal}));
        return result === 'closed' ? unstartedResult(request, closedFailure('toolbox').error, clock) : result;
      } catch (error) {
        return unstartedResult(request, unexpectedFailure(error, request.tool, log).error, clock);
      }
    },
    renderText: result => renderResult(result, byName.get(result.tool)),
    explain: (tool, params) => explainCall(tool, params, deps),
    closeSession: async () => {
      const closed = await opened?.close();
      if (closed === undefined || closed.ok) return;
      const {message, code} = closed.error;
      log({level: 'error', event: 'event_not_written', message, error_code: code});
    },
  };
}

/** A tool that only `[[tools.definitions]]` knows is taken for one that may do anything. */
function toListing(tool: AdvertisedTool): ToolListing {
  return {
    title: tool.name,
    annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: true},
    dataSchema: {type: 'object'},
    ...tool,
  };
}
