import {onTestFinished} from 'vitest';
import {resolveSection} from '../../src/config/resolve-config.ts';
import {systemClock} from '../../src/core/clock.ts';
import {fail} from '../../src/core/result.ts';
import type {Tool} from '../../src/core/tool.ts';
import {workspaceTools} from '../../src/tools/files/file-tools.ts';
import {BackgroundCommands} from '../../src/tools/run/background.ts';
import {runTools} from '../../src/tools/run/run-tools.ts';
import {verifyQuoteTool} from '../../src/tools/web/verify-quote.ts';
import {webFetchTool} from '../../src/tools/web/web-fetch.ts';
import {webReadTool} from '../../src/tools/web/web-read.ts';
import {type WebFetchOptions, webFetchSection} from '../../src/web/options.ts';
import {openSandbox, runOptions} from './open-sandbox.ts';
import {openTestWorkspace, type TestFiles} from './open-test-workspace.ts';

/** The settings of `web_fetch`, those left out with their defaults. */
export function webFetchOptions(raw: object = {}): WebFetchOptions {
  const surroundings = {env: {}, cwd: '/', tempDir: '/tmp'};
  return resolveSection(webFetchSection, raw, surroundings, {warnings: [], problems: []});
}

export const fetchesNothing = async () => fail('network', 'Nothing is fetched here.');

/** Each tool over these files, without a sandbox and without a web. */
export async function everyTool(files: TestFiles = {}): Promise<readonly Tool[]> {
  const {session: workspace} = await openTestWorkspace(files);
  const settings = {sandbox: 'none', allow_insecure_none: true} as const;
  const opened = openSandbox({settings});
  onTestFinished(() => opened.close());
  const run = runOptions(settings);
  const background = new BackgroundCommands(opened.sandbox, run, systemClock);
  onTestFinished(() => background.close());
  const options = webFetchOptions();
  return [
    ...workspaceTools(workspace),
    ...runTools(opened.sandbox, run, {workspace, background, clock: systemClock}),
    webFetchTool(fetchesNothing, options),
    webReadTool({read: fetchesNothing}, options),
    verifyQuoteTool({quote: fetchesNothing, snapshotAddress: async () => undefined}, options),
  ];
}
