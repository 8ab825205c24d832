import type {Trace} from './trace-requirements.js';

export declare function renderRequirements(groups: Trace['groups']): string;
