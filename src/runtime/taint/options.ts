import type {Section, SettingsOf} from '../../core/setting.ts';

/** T1: `[tools.taint]`. */
export const taintSection = {
  kind: 'section',
  extension: true,
  doc: 'A guard over what leaves, for agents that may be hijacked by what they read. It follows which web pages and which private texts passed through the tools in a run, and makes decisions stricter, never looser. docs/taint.md says what it sees and what it cannot see.',
  entries: {
    mode: {
      kind: 'choice',
      default: 'off',
      choices: ['off', 'warn', 'enforce'],
      extension: true,
      doc: '`off` follows nothing. `warn` changes no decision, and shows in questions, events and the report what it would say; the profile `guarded` sets it. `enforce` asks, or refuses where an address carries private text.',
    },
    assume: {
      kind: 'choice',
      default: 'none',
      choices: ['none', 'untrusted'],
      extension: true,
      doc: 'What a run begins with. `untrusted` is for hosts whose model has other web tools than these, or works on files of strangers: untrusted text counts as delivered from the start.',
    },
    choice_bits: {
      kind: 'integer',
      default: 64,
      min: 0,
      max: 4096,
      unit: 'bits',
      extension: true,
      doc: 'How much a run may say by its choice among the links of untrusted pages once private text was delivered: to follow one of n links costs log2(n + 1). When it is used up, every further link is asked about.',
    },
  },
} as const satisfies Section;

export type TaintOptions = SettingsOf<typeof taintSection>;

/** Nothing is followed. */
export const TAINT_OFF: TaintOptions = {mode: 'off', assume: 'none', choice_bits: 64};
