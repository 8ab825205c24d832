import type {ToolListing} from '../src/core/tool-host.ts';

export declare function renderTools(tools: readonly ToolListing[]): string;
