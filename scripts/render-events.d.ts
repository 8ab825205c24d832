import type {RUNTIME_EVENTS} from '../src/runtime/events/run-event.ts';

export declare function renderEvents(runtimeEvents: typeof RUNTIME_EVENTS): string;
