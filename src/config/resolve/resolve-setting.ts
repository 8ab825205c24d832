import type {Json} from '../../core/json.ts';
import type {IntegerSetting, Setting, TableListSetting, TextSetting} from '../../core/setting.ts';
import {toJson} from '../to-json.ts';
import {describeNumber, describeValue, isTable} from './describe-value.ts';
import {expandPath, type Surroundings} from './expand-path.ts';
import type {Findings} from './findings.ts';

/**
 * The value of one setting; its default where nothing is written. What cannot be used is a problem,
 * and the default stands in so that the rest of the file is looked at too.
 */
export function resolveSetting(
  setting: Exclude<Setting, TableListSetting>,
  raw: unknown,
  key: string,
  surroundings: Surroundings,
  findings: Findings,
): Json {
  const written = raw === undefined ? setting.default : raw;
  const refuse = (expected: string, value: unknown = written, where = key): void => {
    findings.problems.push(`Expected ${where} to be ${expected}, got ${describeValue(value)}.`);
  };
  switch (setting.kind) {
    case 'flag':
      if (typeof written === 'boolean') return written;
      refuse('true or false');
      return setting.default;
    case 'integer': {
      const integer = toInteger(written);
      if (integer !== undefined) return clamp(integer, setting, key, findings);
      refuse(`an integer in ${setting.min}-${setting.max}`);
      return setting.default;
    }
    case 'text':
      // FR-WF-CFG-03a: any white space makes a blank path, a line break too.
      if (setting.path === true && isBlank(written)) return '';
      if (isText(written)) return toText(written, setting, key, surroundings, findings);
      refuse(TEXT);
      return setting.default;
    case 'choice': {
      const choice = setting.choices.find(known => known === written);
      if (choice !== undefined) return choice;
      refuse(setting.choices.map(known => JSON.stringify(known)).join(' or '));
      return setting.default;
    }
    case 'open-table': {
      const json = isTable(written) ? toJson(written) : undefined;
      if (json !== undefined) return json;
      refuse('a table of JSON values');
      return setting.default;
    }
    case 'text-list':
      return listOf(written, entry => (isText(entry) ? entry : undefined), TEXT, 'strings');
    case 'integer-list':
      // No range here: what an unusable entry means is the business of the room that reads it (ruling A9).
      return listOf(
        written,
        entry => {
          const integer = toInteger(entry);
          return integer === undefined ? undefined : Number(integer);
        },
        'an integer',
        'integers',
      );
  }

  function listOf<Entry>(
    value: unknown,
    accept: (entry: unknown) => Entry | undefined,
    expected: string,
    plural: string,
  ): readonly Entry[] {
    if (!Array.isArray(value)) {
      refuse(`an array of ${plural}`);
      return [];
    }
    const list = value.flatMap((entry: unknown, index) => {
      const accepted = accept(entry);
      if (accepted !== undefined) return [accepted];
      refuse(expected, entry, `${key}[${index}]`);
      return [];
    });
    return Object.freeze(list);
  }
}

const TEXT = 'a string without control characters';

/** Control characters serve no setting, and would end up in headers, paths and terminals. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !/\p{Cc}/u.test(value);
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** TOML integers arrive as bigint, so that 2^60 is exact; `20.0` counts as 20. */
function toInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** SRD 5.4, ruling A9: out of range is clamped, with one warning. */
function clamp(value: bigint, {min, max}: IntegerSetting, key: string, findings: Findings): number {
  const used = value < BigInt(min) ? min : value > BigInt(max) ? max : undefined;
  if (used === undefined) return Number(value);
  findings.warnings.push(`${key} = ${describeNumber(value)} is outside ${min}-${max}; ${used} is used.`);
  return used;
}

function toText(
  written: string,
  setting: TextSetting,
  key: string,
  surroundings: Surroundings,
  findings: Findings,
): string {
  if (setting.path !== true) return written;
  const {path, warning} = expandPath(written, surroundings);
  if (warning !== undefined) findings.warnings.push(`${key} ${warning}.`);
  return path;
}
