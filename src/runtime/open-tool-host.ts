// Opens a tool host: the registry, and a session that begins with the first call.
import {type Lifecycle, rememberSuccess} from '../core/async.ts';
import {closedFailure, type Failure, type Json, type Result} from '../core/result.ts';
import type {Tool, ToolRequest, ToolResult} from '../core/tool.ts';
import type {CallOptions, ToolHost, ToolListing} from '../core/tool-host.ts';
import {executeCall, renderResult} from './execute-call.ts';
import {type Explanation, explainCall} from './explain-call.ts';
import {callId, checkRequest, prepareCall} from './prepare-call.ts';
import type {AdvertisedTool} from './registry.ts';
import {outputLimitOf, type Runtime} from './runtime.ts';
import type {Session} from './session.ts';
import {unexpectedFailure, unstartedResult} from './tool-call.ts';

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

/** What the interfaces call: the registry, and the executor over a session that opens with the first call that can begin. */
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

  /** A run begins with a call that can begin: a wrong name or wrong arguments leave no directory. (M1) */
  const refusal = ({tool, params}: ToolRequest): Failure | undefined => {
    const found = registry.find(tool);
    const begun = found.ok ? prepareCall(found.value, params ?? {}) : found;
    return begun.ok ? undefined : begun.error;
  };

  const call = async (request: ToolRequest, options: CallOptions): Promise<ToolResult> => {
    const wrong = opened === undefined ? refusal(request) : undefined;
    if (wrong !== undefined) {
      const {maxOutputBytes = Infinity, availableCapacityBytes = Infinity} = options;
      const maxBytes = Math.min(maxOutputBytes, availableCapacityBytes, outputLimitOf(deps, request.tool));
      return unstartedResult({...request, request_id: callId(request)}, wrong, clock, maxBytes);
    }
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
    explain: (tool, params) => explainCall(tool, params, {...deps, taint: opened?.taint}),
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
