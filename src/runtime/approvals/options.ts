// The settings of `[tools.approval]`.
import {choice, flag, own, type SettingsOf, section, tableList, text, textList} from '../../core/setting.ts';

/** Ruling H3: `[tools.approval]`. */
// biome-ignore format: a setting is a line
export const approvalSection = section('Decisions about calls with side effects. The first that applies: `mode = "deny"`, `denylist`, `deny` rules, `ask` rules, `allowlist` and `allow_auto_execution`, `allow` rules, `mode`.', {
  mode: choice(['prompt', 'auto', 'deny'], '`prompt` asks the user, and refuses if nobody can be asked. `auto` runs without asking. `deny` refuses everything.'),
  allowlist: textList([], 'Tools (`apply_patch`) or actions (`patch_file`, `write_file`, `run`, `web_fetch`) that run without asking.'),
  denylist: textList([], 'Tools and actions that never run. It overrides `allowlist` and every rule.'),
  rules: own(tableList(['tool', 'decision'], 'Decisions by argument. The strictest matching rule wins.', {
    tool: text('', 'A tool, an action, or `*` for all.'),
    decision: { kind: 'choice', default: 'ask', choices: ['allow', 'ask', 'deny'], doc: '`allow` needs every path or address of the call to match an `allow` rule; `ask` and `deny` need one.', },
    host: text('', 'Host of the URL: `example.com` is that host only, `.example.com` every host below it. Give exactly one of `host`, `path` and `command_prefix`.'),
    path: text('', 'gitignore-style pattern for paths in the workspace: `docs/**`, `*.md`, `/secrets/`. Case matters.'),
    command_prefix: text('', 'First words of the command: `npm test` matches `npm test -- --watch`, not `npm testing`. docs/approvals.md says which commands an `allow` rule covers. It is a convenience; the sandbox contains commands.'),
    match: textList([], 'Examples that the rule must match. Checked at start-up.'),
    not_match: textList([], 'Examples that the rule must not match. Checked at start-up.'),
    reason: text('', 'Shown when the rule asks or refuses.'),
    tainted: own(flag(false, "The `allow` rule also holds where `tools.taint` would ask or refuse.")),
  })),
});

type Written = SettingsOf<typeof approvalSection>;

export type ApprovalOptions = Omit<Written, 'rules'> & {readonly rules: readonly RuleFields[]};

type WrittenRule = Written['rules'][number];

/** A rule of the configuration, where what is left out is empty, or of an approver, where it is absent. */
export type RuleFields = Pick<WrittenRule, 'tool' | 'decision'> & {
  readonly [Key in Exclude<keyof WrittenRule, 'tool' | 'decision'>]?: WrittenRule[Key] | undefined;
};
