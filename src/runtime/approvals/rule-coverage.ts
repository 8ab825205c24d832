import {takeStart} from '../../core/text/take-start.ts';
import type {ApprovalSubject} from '../../core/tool.ts';
import {commandParts} from './command-parts.ts';
import type {CompiledRule} from './rules/compile-rule.ts';

const MOST_NAMED = 5;
const LONGEST_NAME = 120;

export type RuleCoverage =
  | {readonly isCovered: true; readonly by: CompiledRule}
  | {
      readonly isCovered: false;
      /** What no rule matches, each once; empty where it cannot be told. */
      readonly open: readonly string[];
      /** A sentence about a command that is covered in part, or that no rule could cover. */
      readonly why: string | undefined;
    };

/**
 * Whether `allow` rules cover a call: each of its values and, of a command, each of its parts, by whichever rule.
 * Review R10: no rule covers a call that brings what no rule looks at.
 */
export function ruleCoverage(
  {kind, values, exactOnly}: ApprovalSubject,
  rules: readonly CompiledRule[],
): RuleCoverage {
  if (exactOnly === true) return {isCovered: false, open: [], why: undefined};
  const all: string[] = [];
  for (const value of values) {
    const parts = kind === 'command' ? commandParts(value) : undefined;
    if (parts?.ok === false) return {isCovered: false, open: [], why: refusal(parts.error, rules)};
    all.push(...(parts?.value ?? [value]));
  }
  const matched = all.map(value => rules.find(rule => rule.matches(value)));
  const [by] = matched;
  if (by !== undefined && !matched.includes(undefined)) return {isCovered: true, by};
  const open = [...new Set(all.filter((_, at) => matched[at] === undefined))];
  const covered = [...new Set(all.filter((_, at) => matched[at] !== undefined))];
  const isInParts = kind === 'command' && covered.length > 0;
  return {isCovered: false, open, why: isInParts ? inParts(open, covered) : undefined};
}

function refusal(problem: string, rules: readonly CompiledRule[]): string | undefined {
  // Where there is no rule, none is missed.
  return rules.length === 0 ? undefined : `No rule allows the command, since it ${problem}.`;
}

function inParts(open: readonly string[], covered: readonly string[]): string {
  const what = open.length === 1 ? 'matches' : 'match';
  return `${named(open)} ${what} no rule; ${named(covered)} alone would run.`;
}

function named(parts: readonly string[]): string {
  const shown = parts.slice(0, MOST_NAMED).map(part => `\`${takeStart(part, LONGEST_NAME)}\``);
  return `${shown.join(', ')}${parts.length > MOST_NAMED ? ' and others' : ''}`;
}
