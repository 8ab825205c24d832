import type {ToolboxServices} from './toolbox-services.ts';

/** The composition root, loaded when a command needs it. */
export async function loadServices(): Promise<ToolboxServices> {
  const root: unknown = await import('../create-toolbox.ts');
  return root as ToolboxServices;
}
