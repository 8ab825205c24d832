import type {Trace} from './replay.js';

export function readPairs(): {readonly benign: readonly Trace[]; readonly hijacks: readonly Trace[]};
