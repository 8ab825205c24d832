import type {ToolboxServices} from './toolbox-services.ts';

/** What commands do to runs and machines without a toolbox, loaded when a command needs it. */
export function loadServices(): Promise<ToolboxServices> {
  return import('../create-toolbox/services.ts');
}
