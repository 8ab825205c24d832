import {readdirSync} from 'node:fs';
import {dirname} from 'node:path';
import {expect, test} from 'vitest';
import {cliConfig} from '../../../test/support/cli-config.ts';
import {runCliHere} from '../../../test/support/run-cli-here.ts';

const RULES = `[tools.approval]
allowlist = ["web_fetch"]
[[tools.approval.rules]]
tool = "web_fetch"
decision = "deny"
host = "evil.example"
reason = "It is evil."
`;

async function explain(url: string, ...argv: readonly string[]) {
  const {cwd, env, flags} = cliConfig(RULES);
  const outcome = await runCliHere(
    ['policy', 'explain', 'web_fetch', JSON.stringify({url}), ...argv, ...flags],
    {
      cwd,
      env,
    },
  );
  // Nothing was run, so nothing was recorded.
  expect(readdirSync(dirname(env['XDG_STATE_HOME'] ?? ''))).toEqual(['config.toml']);
  return outcome;
}

test('ruling H3 policy explain says what decides, why, and what it overrules', async () => {
  const {code, stdout} = await explain('https://evil.example/x?secret=1');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^web_fetch https:\/\/evil\.example\/x \(http mode\)\nIt would be refused: tools\.approval\.rules\[0\]: It is evil\.\n/,
  );
  expect(stdout).toContain('overruled: allow, tools.approval.allowlist names "web_fetch".');
  expect(stdout).not.toContain('secret');
});

test('ruling H3 policy explain --json is the explanation itself', async () => {
  const {code, stdout} = await explain('https://example.com/', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({verdict: {decision: 'allow', by: 'tools.approval.allowlist'}});
});

test('policy: a call that would fail before it is judged is a failure', async () => {
  const {cwd, env, flags} = cliConfig();
  const options = {cwd, env};
  const wrong = await runCliHere(['policy', 'explain', 'web_fetch', '{}', ...flags], options);
  expect(wrong).toMatchObject({code: 1, stdout: ''});
  expect(JSON.parse(wrong.stderr)).toMatchObject({code: 'bad_args'});
  const unknown = await runCliHere(['policy', 'explain', 'web_fetsh', '{}', ...flags], options);
  expect(JSON.parse(unknown.stderr)).toMatchObject({
    code: 'unknown_tool',
    details: {did_you_mean: 'web_fetch'},
  });
});

test.each([[[]], [['explain']], [['show', 'x']], [['explain', 'x', '{}', 'y']]])(
  'policy: %j is wrong usage',
  async argv => {
    expect(await runCliHere(['policy', ...argv])).toMatchObject({code: 2});
  },
);

test('W18: policy explain says which part of a command no rule allows', async () => {
  const {cwd, env, flags} = cliConfig(
    '[[tools.approval.rules]]\ntool = "run"\ndecision = "allow"\ncommand_prefix = "npm test"\n',
  );
  const params = JSON.stringify({command: 'npm test && curl x'});
  const {stdout} = await runCliHere(['policy', 'explain', 'run', params, '--workspace', cwd, ...flags], {
    cwd,
    env,
  });
  expect(stdout).toMatch(/^The approver would be asked: .*\n {2}`curl x` matches no rule/m);
});
