// The settings of `[tools.taint]`.
import {choice, integer, own, type SettingsOf, section} from '../../core/setting.ts';

/** T1: `[tools.taint]`. */
// biome-ignore format: a setting is a line
export const taintSection = own(section('A guard for agents that a page may hijack. It tracks which pages and private texts the model has seen in a run, and only makes decisions stricter. See docs/taint.md.', {
  mode: own(choice(['off', 'warn', 'enforce'], '`off` tracks nothing. `warn` changes no decision, but questions, events and the report say what `enforce` would do. `enforce` asks, or refuses an address that carries private text.')),
  assume: own(choice(['none', 'untrusted'], '`untrusted` counts untrusted text as delivered from the start. Use it if the model has other web tools, or works on files of strangers.')),
  choice_bits: own(integer(64, [0, 4096, 'bits'], 'After private text, following one of the n links that the run has seen costs log2(n + 1) bits. When they are used up, every further link is asked about.')),
}));

export type TaintOptions = SettingsOf<typeof taintSection>;

/** Nothing is followed. */
export const TAINT_OFF: TaintOptions = {mode: 'off', assume: 'none', choice_bits: 64};
