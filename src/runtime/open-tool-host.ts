import type {Failure} from '../core/failure.ts';
import type {Json} from '../core/json.ts';
import type {Result} from '../core/result.ts';
import type {Tool, ToolError, ToolResult} from '../core/tool.ts';
import type {ToolHost, ToolListing} from '../core/tool-host.ts';
import {executeCall, type Runtime} from './execute-call.ts';
import {type Explanation, explainCall} from './explain-call.ts';
import type {AdvertisedTool} from './registry.ts';
import type {Session} from './session.ts';
import {unstartedResult} from './unstarted-result.ts';

export interface ToolHostParts extends Omit<Runtime, 'session'> {
  /** Called at the first call, once. */
  readonly openSession: () => Promise<Result<Session>>;
  readonly tools: readonly Tool[];
}

export interface OpenToolHost extends ToolHost {
  readonly explain: (tool: string, params: Json) => Promise<Result<Explanation>>;
  readonly close: () => Promise<void>;
}

/** What the faces call: the registry, and the executor over a session that opens with the first call. */
export function openToolHost(parts: ToolHostParts): OpenToolHost {
  const {registry, clock, tools} = parts;
  const byName = new Map(tools.map(tool => [tool.name, tool]));
  const listings = registry.advertised.map(toListing);
  let opening: Promise<Result<Session>> | undefined;

  return {
    listTools: () => listings,
    call: async (request, options = {}) => {
      opening ??= parts.openSession();
      const session = await opening;
      if (session.ok) return executeCall(request, options, {...parts, session: session.value});
      // Somebody may make room for the run directory meanwhile.
      opening = undefined;
      return unstartedResult(request, session.error, clock);
    },
    renderText: result => renderText(result, byName.get(result.tool)),
    explain: (tool, params) => explainCall(tool, params, parts),
    close: async () => {
      const session = await opening;
      if (!session?.ok) return;
      const closed = await session.value.close();
      if (closed.ok) return;
      const {message, code} = closed.error;
      parts.log({level: 'error', event: 'event_not_written', message, error_code: code});
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

/** Ruling H2. `web_fetch` fails with the bare envelope (FR-ERR-JSON-01), the others with a sentence. */
function renderText({error, data}: ToolResult, tool: Tool | undefined): string {
  if (!error) return tool ? tool.renderText(data) : JSON.stringify(data);
  if (tool?.badParams === 'bad_args') return JSON.stringify(toEnvelope(error));
  const {retryable, ...details} = error.details ?? {};
  const more = Object.keys(details).length > 0 ? `\n${JSON.stringify(details)}` : '';
  return `${error.error_type}: ${error.message}${retryable === true ? ' (may work when retried)' : ''}${more}`;
}

/** Ruling H1, the other way round. */
function toEnvelope({error_type, message, details}: ToolError): Failure {
  const {retryable, ...rest} = details ?? {};
  return {code: error_type, message, retryable: retryable === true, details: rest};
}
