import type {ToolListing} from '../src/core/tool-host.ts';
import type {createToolbox} from '../src/create-toolbox.ts';

export declare function listEveryTool(create: typeof createToolbox): Promise<readonly ToolListing[]>;
