import type {Section, SettingsOf} from '../../core/setting.ts';

/** Ruling H3: `[tools.approval]`. */
export const approvalSection = {
  kind: 'section',
  doc: 'Who decides about calls that have side effects. `mode = "deny"` beats everything, then `denylist`, then rules (`deny` before `ask` before `allow`), then `allowlist` and `allow_auto_execution`, then `mode`.',
  entries: {
    mode: {
      kind: 'choice',
      default: 'prompt',
      choices: ['prompt', 'auto', 'deny'],
      doc: '`prompt` asks the user, and refuses where there is no one to ask; `auto` runs without asking; `deny` refuses, whatever else is set.',
    },
    allowlist: {
      kind: 'text-list',
      default: [],
      doc: 'Tools that run without asking, by name (`apply_patch`) or by action (`patch_file`, `write_file`, `run`, `web_fetch`).',
    },
    denylist: {
      kind: 'text-list',
      default: [],
      doc: 'Tools and actions that never run. Beats `allowlist` and every rule.',
    },
    rules: {
      kind: 'table-list',
      default: [],
      required: ['tool', 'decision'],
      extension: true,
      doc: 'Decisions that depend on the arguments. The strictest of those that match wins.',
      entries: {
        tool: {kind: 'text', default: '', doc: 'A tool, an action, or `*` for all.'},
        decision: {
          kind: 'choice',
          default: 'ask',
          choices: ['allow', 'ask', 'deny'],
          doc: '`allow` needs every path or address of the call to match an `allow` rule; `ask` and `deny` need one.',
        },
        host: {
          kind: 'text',
          default: '',
          doc: 'Host of the URL: `example.com` is that host only, `.example.com` every host below it. Exactly one of `host`, `path` and `command_prefix` is given.',
        },
        path: {
          kind: 'text',
          default: '',
          doc: 'gitignore-style pattern for paths in the workspace: `docs/**`, `*.md`, `/secrets/`. Upper and lower case differ.',
        },
        command_prefix: {
          kind: 'text',
          default: '',
          doc: 'First words of the command: `npm test` is also `npm test -- --watch`, never `npm testing`. `allow` rules cover a command in parts (`&&`, `;`, `|`, new lines, `2>&1`) if each part matches one of them, and none with substitutions, redirections to files or assignments; `ask` and `deny` look at every part. They are a convenience: what contains a command is the sandbox.',
        },
        match: {
          kind: 'text-list',
          default: [],
          doc: 'Examples that the rule must match. Checked at start-up.',
        },
        not_match: {
          kind: 'text-list',
          default: [],
          doc: 'Examples that the rule must not match. Checked at start-up.',
        },
        reason: {kind: 'text', default: '', doc: 'Told to whom the rule asks or refuses.'},
        tainted: {
          kind: 'flag',
          default: false,
          extension: true,
          doc: "An `allow` rule holds for calls that `tools.taint` asks about or refuses too: what it matches is taken for the operator's own.",
        },
      },
    },
  },
} as const satisfies Section;

type Written = SettingsOf<typeof approvalSection>;

export type ApprovalOptions = Omit<Written, 'rules'> & {readonly rules: readonly ApprovalRule[]};

/** One `[[tools.approval.rules]]` as it is written; what is left out is empty. */
export type ApprovalRule = Omit<Written['rules'][number], 'tainted'> & {
  readonly tainted?: boolean;
};
