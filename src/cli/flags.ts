// Parses flags and parameters. A wrong one is a `UsageError` that names the nearest right one.
import {type ParseArgsConfig, parseArgs} from 'node:util';
import type {Json} from '../core/result.ts';
import {nearestName} from '../core/text/nearest-name.ts';

/** One flag of a command: parsing and `--help` are made from it. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What stands for the value in help: `N`, `FILE`. */
  readonly value?: string;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
  readonly help: string;
}

export type Flags = Readonly<Record<string, Flag>>;

export type ValuesOf<F extends Flags> = {
  readonly [Name in keyof F]:
    | (F[Name]['type'] extends 'boolean'
        ? boolean
        : F[Name] extends {readonly choices: readonly (infer Choice)[]}
          ? Choice
          : string)
    | undefined;
};

/** Strict: an unknown flag or a missing value is a `UsageError`. */
export function parseFlags<F extends Flags>(
  argv: readonly string[],
  flags: F,
): {values: ValuesOf<F>; positionals: readonly string[]} {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, flag] of Object.entries(flags)) {
    options[name] = {type: flag.type, ...(flag.short !== undefined && {short: flag.short})};
  }
  try {
    const {values, positionals} = parseArgs({args: [...argv], options, strict: true, allowPositionals: true});
    refuseOthers(values, flags);
    return {values: values as ValuesOf<F>, positionals};
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(explain(error, Object.keys(flags)));
  }
}

function refuseOthers(values: Readonly<Record<string, unknown>>, flags: Flags): void {
  for (const [name, {choices}] of Object.entries(flags)) {
    const written = values[name];
    if (choices === undefined || typeof written !== 'string' || choices.includes(written)) continue;
    throw new UsageError(
      `--${name} takes one of ${choices.join(', ')}, got "${written}".${didYouMean(written, choices)}`,
    );
  }
}

/** The end of a sentence about a name that is not there. */
export function didYouMean(written: string, known: readonly string[]): string {
  const nearest = nearestName(written, known);
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
}

function explain(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const missing = /^Option '(?:-\w, )?(--[\w-]+) <value>' argument missing/.exec(message)?.[1];
  if (missing !== undefined) return `${missing} needs a value.`;
  const dashed = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument is ambiguous/.exec(message)?.[1];
  if (dashed !== undefined)
    return `${dashed} needs a value. One that begins with "-" is written ${dashed}=VALUE.`;
  const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) return message;
  const nearest = nearestName(unknown.replace(/^-+/, ''), [...names, 'help']);
  return `There is no flag ${unknown} here.${nearest === undefined ? '' : ` Did you mean --${nearest}?`}`;
}

/** A whole number from a flag, in a range. */
export function integerFlag(
  name: string,
  text: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new UsageError(`--${name} takes a whole number from ${min} to ${max}, got "${text}".`);
  }
  return value;
}

/** Names separated by commas. */
export function listFlag(name: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const entries = text.split(',').map(entry => entry.trim());
  if (entries.includes('')) throw new UsageError(`--${name} takes names separated by commas, got "${text}".`);
  return entries;
}

/** R2. */
export function modeFlag(standard: string) {
  return {
    type: 'string',
    value: 'MODE',
    choices: ['full', 'reader'],
    help: `What of a page is its content: full (all but what is named as furniture), or reader (the main content, told by the structure). Default: ${standard}.`,
  } as const;
}

/** The JSON object that the user typed; none is `{}` (ruling H2). */
export function parseParams(written: string | undefined): {readonly [name: string]: Json} {
  if (written === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `The parameters are not valid JSON: ${what}. Write one object: '{"path": "a.txt"}'.`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`Expected the parameters as a JSON object, got ${written.trim().slice(0, 40)}.`);
  }
  // What `JSON.parse` returned is JSON already.
  return value as {readonly [name: string]: Json};
}

/** The command line is wrong: a sentence that says what, and which help to read. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
