// Describes settings. One description gives the default, the validation, the type and the line in the docs.
import type {Json} from './result.ts';

/**
 * One description of a setting yields its default, its clamping, its validation and its line in
 * docs/config.md. Rooms describe their settings with these; `config/` reads them.
 */
interface Described {
  /** One or two sentences for docs/config.md; no default and no range, those are printed from here. */
  readonly doc: string;
  /** Set on a setting of our own. */
  readonly extension?: boolean;
}

export interface FlagSetting extends Described {
  readonly kind: 'flag';
  readonly default: boolean;
}

/** Out of range is clamped with one warning (SRD 5.4). */
export interface IntegerSetting extends Described {
  readonly kind: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
}

export interface TextSetting extends Described {
  readonly kind: 'text';
  readonly default: string;
  /** FR-WF-CFG-03: `${NAME}` is replaced, and a relative path is resolved against the working directory. */
  readonly path?: boolean;
}

export interface ChoiceSetting<Choice extends string = string> extends Described {
  readonly kind: 'choice';
  readonly default: Choice;
  readonly choices: readonly Choice[];
}

export interface TextListSetting extends Described {
  readonly kind: 'text-list';
  readonly default: readonly string[];
}

export interface IntegerListSetting extends Described {
  readonly kind: 'integer-list';
  readonly default: readonly number[];
}

/** A table whose keys are not ours, handed on as JSON: a JSON Schema written as TOML. */
export interface OpenTableSetting extends Described {
  readonly kind: 'open-table';
  readonly default: {readonly [key: string]: Json};
}

/** An array of tables (`[[tools.approval.rules]]`), each with the same keys. */
export interface TableListSetting extends Described {
  readonly kind: 'table-list';
  /** None, ever: what is in the list was written by the operator. */
  readonly default: readonly [];
  readonly entries: {readonly [key: string]: Exclude<Setting, TableListSetting>};
  /** Keys that every table must have; one without them stops start-up. */
  readonly required: readonly string[];
}

export type Setting =
  | FlagSetting
  | IntegerSetting
  | TextSetting
  | ChoiceSetting
  | TextListSetting
  | IntegerListSetting
  | OpenTableSetting
  | TableListSetting;

export interface Section extends Described {
  readonly kind: 'section';
  readonly entries: {readonly [key: string]: Setting | Section};
}

type ValueOf<Entry> = Entry extends {readonly kind: 'section'; readonly entries: infer Entries}
  ? {readonly [Key in keyof Entries]: ValueOf<Entries[Key]>}
  : Entry extends {readonly kind: 'table-list'; readonly entries: infer Entries}
    ? readonly {readonly [Key in keyof Entries]: ValueOf<Entries[Key]>}[]
    : Entry extends {readonly kind: 'choice'; readonly choices: readonly (infer Choice)[]}
      ? Choice
      : Entry extends FlagSetting
        ? boolean
        : Entry extends IntegerSetting
          ? number
          : Entry extends TextSetting
            ? string
            : Entry extends TextListSetting
              ? readonly string[]
              : Entry extends IntegerListSetting
                ? readonly number[]
                : Entry extends OpenTableSetting
                  ? {readonly [key: string]: Json}
                  : never;

/** The resolved values of a section, under the names that the TOML file uses. */
export type SettingsOf<S extends Section> = ValueOf<S>;

// What follows writes a setting in one line. The literal types stay, so that editors show each sentence.

/** A table of settings. */
export function section<const Doc extends string, const Entries extends Section['entries']>(
  doc: Doc,
  entries: Entries,
): {readonly kind: 'section'; readonly doc: Doc; readonly entries: Entries} {
  return {kind: 'section', doc, entries};
}

/** A setting of our own. */
export function own<Entry extends Setting | Section>(entry: Entry): Entry & {readonly extension: true} {
  return {...entry, extension: true};
}

export function flag<const Default extends boolean, const Doc extends string>(
  value: Default,
  doc: Doc,
): {readonly kind: 'flag'; readonly default: Default; readonly doc: Doc} {
  return {kind: 'flag', default: value, doc};
}

export function integer<const Doc extends string>(
  value: number,
  [min, max, unit]: readonly [min: number, max: number, unit?: string],
  doc: Doc,
): {
  readonly kind: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
  readonly doc: Doc;
} {
  return {kind: 'integer', default: value, min, max, ...(unit !== undefined && {unit}), doc};
}

export function text<const Default extends string, const Doc extends string>(
  value: Default,
  doc: Doc,
): {readonly kind: 'text'; readonly default: Default; readonly doc: Doc} {
  return {kind: 'text', default: value, doc};
}

/** A text whose variables are replaced, and a relative one resolved against the working directory. */
export function path<const Default extends string, const Doc extends string>(
  value: Default,
  doc: Doc,
): {readonly kind: 'text'; readonly default: Default; readonly path: true; readonly doc: Doc} {
  return {kind: 'text', default: value, path: true, doc};
}

/** The first choice is the default. */
export function choice<
  const Choices extends readonly [string, ...(readonly string[])],
  const Doc extends string,
>(
  choices: Choices,
  doc: Doc,
): {readonly kind: 'choice'; readonly default: Choices[0]; readonly choices: Choices; readonly doc: Doc} {
  return {kind: 'choice', default: choices[0], choices, doc};
}

export function textList<const Doc extends string>(
  value: readonly string[],
  doc: Doc,
): {readonly kind: 'text-list'; readonly default: readonly string[]; readonly doc: Doc} {
  return {kind: 'text-list', default: value, doc};
}

export function integerList<const Doc extends string>(
  value: readonly number[],
  doc: Doc,
): {readonly kind: 'integer-list'; readonly default: readonly number[]; readonly doc: Doc} {
  return {kind: 'integer-list', default: value, doc};
}

export function tableList<const Doc extends string, const Entries extends TableListSetting['entries']>(
  required: readonly string[],
  doc: Doc,
  entries: Entries,
): {
  readonly kind: 'table-list';
  readonly default: readonly [];
  readonly required: readonly string[];
  readonly doc: Doc;
  readonly entries: Entries;
} {
  return {kind: 'table-list', default: [], required, doc, entries};
}
