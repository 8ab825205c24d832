import type {Json} from '../../src/core/result.ts';
import type {Tool, ToolResult} from '../../src/core/tool.ts';
import type {CallOptions} from '../../src/core/tool-host.ts';
import {workspaceTools} from '../../src/tools/files/file-tools.ts';
import {openTestRuntime, type TestRuntime} from './open-test-runtime.ts';
import {openTestWorkspace, type TestFiles, type TestWorkspace} from './open-test-workspace.ts';

export interface CallableWorkspace extends TestWorkspace {
  readonly runtime: TestRuntime;
  readonly tool: (name: string) => Tool;
  /** `data` of a call that has to succeed. */
  readonly data: (tool: string, params?: {[name: string]: Json}) => Promise<{[name: string]: Json}>;
  /** `error_type` of a call, `ok` where it succeeds. */
  readonly code: (tool: string, params?: {[name: string]: Json}) => Promise<string>;
  readonly call: (
    tool: string,
    params?: {[name: string]: Json},
    options?: CallOptions,
  ) => Promise<ToolResult>;
}

/** The workspace tools over real files, in a real run that allows everything. */
export async function callWorkspaceTools(
  files: TestFiles = {},
  {workspace, ...options}: Parameters<typeof openTestRuntime>[0] & {workspace?: TestWorkspace} = {},
): Promise<CallableWorkspace> {
  const place = workspace ?? (await openTestWorkspace(files));
  const tools = workspaceTools(place.session);
  const runtime = await openTestRuntime({
    tools,
    approval: {mode: 'auto'},
    directory: place.runDirectory,
    clock: place.session.clock,
    ...options,
  });
  const tool = (name: string): Tool => {
    const found = tools.find(one => one.name === name);
    if (found === undefined) throw new Error(`There is no ${name}.`);
    return found;
  };
  return {
    ...place,
    runtime,
    tool,
    call: runtime.call,
    code: async (name, params) => (await runtime.call(name, params)).error?.error_type ?? 'ok',
    data: async (name, params) => {
      const {error, data} = await runtime.call(name, params);
      if (error !== null) throw new Error(`${error.error_type}: ${error.message}`);
      return data as {[name: string]: Json};
    },
  };
}
