import {symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {resolveConfig} from '../config/resolve/resolve-config.ts';
import {systemClock} from '../core/clock.ts';
import {openEgress} from './open-egress.ts';

const SECRET = 'pk_7Yb2Qw9Zt4Lm1Xc8';

/** What stops the start where a credential is in a file, and commands read `readable`. */
function problemsOf(file: string, workspace: string, readable: string): readonly string[] {
  const environment = {env: {}, cwd: '/', tempDir: '/tmp', homeDir: '/nonexistent'};
  const egress = {allow: ['a.test'], credentials: [{host: 'a.test', file}]};
  const resolved = resolveConfig({tools: {run: {egress, readable_paths: [readable]}}}, environment);
  if (!resolved.ok) throw new Error(resolved.error.join());
  const {run, webfetch: web} = resolved.value.config.tools;
  const opened = openEgress(run, {
    web,
    resolver: undefined,
    env: {},
    workspace,
    certificateAuthorities: [],
    clock: systemClock,
  });
  return opened.ok ? [] : opened.error;
}

test('X1 a secret in a file that commands read stops the start, by a link too, and the message does not say it', () => {
  const [workspace, readable, elsewhere] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  const fileIn = (place: string): string => {
    const file = join(place, 'token');
    writeFileSync(file, `${SECRET}\n`);
    return file;
  };
  const shared = fileIn(readable);
  const link = join(elsewhere, 'link');
  symlinkSync(shared, link);
  expect(problemsOf(fileIn(elsewhere), workspace, readable)).toEqual([]);
  for (const file of [shared, link]) {
    expect(problemsOf(file, workspace, readable)).toEqual([
      `tools.run.egress.credentials[0].file is in ${readable}, which commands read. Move ${file} elsewhere.`,
    ]);
  }
  expect(problemsOf(fileIn(workspace), workspace, readable)).toEqual([
    expect.stringContaining('tools.run.egress.credentials[0].file is in the workspace'),
  ]);
});
