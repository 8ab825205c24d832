import type {FAILURE_CODES} from '../src/core/failure/failure-codes.ts';
import type {ToolListing} from '../src/core/tool-host.ts';
import type {toolResultSchema} from '../src/mcp/tool-result-schema.ts';
import type {RUNTIME_EVENTS} from '../src/runtime/events/run-event.ts';

interface EventEntry {
  readonly when: string;
  readonly payload: readonly string[];
}

export declare function listEvents(
  runtimeEvents: typeof RUNTIME_EVENTS,
): Readonly<Record<string, EventEntry>>;

export declare function renderSchemas(
  tools: readonly ToolListing[],
  tables: {
    readonly failureCodes: typeof FAILURE_CODES;
    readonly runtimeEvents: typeof RUNTIME_EVENTS;
    readonly toolResultSchema: typeof toolResultSchema;
  },
): ReadonlyMap<string, string>;
