import type {ToolboxOptions} from '../../src/index.ts';
import {openTestToolbox, type TestToolbox} from './open-test-toolbox.ts';
import {TEST_CHROMIUM} from './parts.ts';
import {temporaryDirectory} from './temporary-directory.ts';

type WebFetch = NonNullable<NonNullable<NonNullable<ToolboxOptions['config']>['tools']>['webfetch']>;

/** A toolbox with the tests' Chromium, which has a directory for temporary files to itself. */
export function openToolboxWithBrowser(
  ports: readonly number[],
  browser: NonNullable<WebFetch['browser']>,
): TestToolbox & {readonly scratch: string} {
  const scratch = temporaryDirectory();
  const environment = {
    env: {PATH: process.env['PATH'], TMPDIR: scratch},
    cwd: scratch,
    tempDir: scratch,
    homeDir: scratch,
  };
  const settings = {browser: {chromium_path: TEST_CHROMIUM, ...browser}};
  return {...openTestToolbox(ports, settings, {environment}), scratch};
}
