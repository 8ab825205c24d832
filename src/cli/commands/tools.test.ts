import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';

async function tools(...argv: readonly string[]) {
  const {cwd, env, flags} = cliConfig();
  const outcome = await runCliHere(['tools', ...argv, ...flags], {cwd, env});
  expect(outcome).toMatchObject({code: 0, stderr: ''});
  return outcome.stdout;
}

const SCHEMA = {type: 'object', required: ['url']};

test('policy: tools lists what the configuration offers, a line for the name and one for what it does', async () => {
  expect(await tools()).toContain(
    'web_fetch  Fetch a web page · reaches the network\n    Fetches a public web page and returns',
  );
});

test('policy: --format mcp is the answer of tools/list', async () => {
  expect(JSON.parse(await tools('--format', 'mcp')).tools).toContainEqual(
    expect.objectContaining({
      name: 'web_fetch',
      inputSchema: expect.objectContaining(SCHEMA),
      annotations: expect.objectContaining({
        readOnlyHint: false,
        destructiveHint: false,
        openWorldHint: true,
      }),
    }),
  );
});

test('policy: --format openai, openai-chat and anthropic are the tools of those APIs', async () => {
  expect(JSON.parse(await tools('--format', 'openai'))).toContainEqual(
    expect.objectContaining({
      type: 'function',
      name: 'web_fetch',
      parameters: expect.objectContaining(SCHEMA),
    }),
  );
  expect(JSON.parse(await tools('--format', 'openai-chat'))).toContainEqual({
    type: 'function',
    function: expect.objectContaining({name: 'web_fetch', parameters: expect.objectContaining(SCHEMA)}),
  });
  expect(JSON.parse(await tools('--format', 'anthropic'))).toContainEqual(
    expect.objectContaining({name: 'web_fetch', input_schema: expect.objectContaining(SCHEMA)}),
  );
});

test('policy: --format jsonschema has the schemas of parameters and data', async () => {
  expect(JSON.parse(await tools('--format', 'jsonschema'))).toMatchObject({
    web_fetch: {params: SCHEMA, data: {type: 'object'}},
  });
});

test('policy: where nothing is offered, it says why and what to do', async () => {
  const file = join(temporaryDirectory(), 'config.toml');
  writeFileSync(file, '[tools]\nmode = "disabled"\n');
  const {code, stdout, stderr} = await runCliHere(['tools', '--config', file], {cwd: import.meta.dirname});
  expect({code, stdout}).toEqual({code: 0, stdout: ''});
  expect(stderr).toBe(
    `Every tool is off: tools.mode is "disabled". Write mode = "enabled" below [tools] in ${file}.\n`,
  );
});

test('ruling H7: without a file it lists what mcp would offer, and --profile what another profile would', async () => {
  const cwd = temporaryDirectory();
  const {stdout} = await runCliHere(['tools'], {cwd});
  expect(stdout).toMatch(/^web_fetch /m);
  expect(stdout).toMatch(/^run /m);
  const reading = await runCliHere(['tools', '--profile', 'read-only'], {cwd});
  expect(reading.stdout).toMatch(/^web_fetch /m);
  expect(reading.stdout).toMatch(/^search /m);
  expect(reading.stdout).not.toMatch(/^(?:run|write_file|str_replace|apply_patch) /m);
  expect(await runCliHere(['tools', '--profile', 'trustd'], {cwd})).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean "trusted"?'),
  });
});

test('policy: an unknown format is wrong usage', async () => {
  const {code, stderr} = await runCliHere(['tools', '--format', 'constructor']);
  expect(code).toBe(2);
  expect(stderr).toContain('mcp, openai, openai-chat, anthropic, jsonschema');
});
