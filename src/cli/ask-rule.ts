import type {ApprovalAnswer, ApprovalQuestion, ApprovalRule} from '../core/tool-host.ts';
import type {Console} from './console.ts';
import {printable} from './printable.ts';

const MOST_TRIES = 3;
const PATTERNS = ['host', 'path', 'command_prefix'] as const;

type Asking = Required<Pick<Console, 'err'>> & {readonly ask: NonNullable<Console['ask']>};

/** The rule that would settle the question, to be taken or edited. `undefined` where no usable one comes. */
export async function askRule(
  suggested: ApprovalRule,
  {canRemember, ruleProblem}: Pick<ApprovalQuestion, 'canRemember' | 'ruleProblem'>,
  {ask, err}: Asking,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  const key = PATTERNS.find(name => suggested[name] !== '');
  if (key === undefined) return undefined;
  err(`  rule: allow ${suggested.tool} where ${key} = ${JSON.stringify(printable(suggested[key]))}\n`);
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const line = await ask(`Enter takes it, or type another ${key}: `, signal);
    if (line === undefined) return undefined;
    const rule = line.trim() === '' ? suggested : {...suggested, [key]: line.trim()};
    const problem = ruleProblem(rule);
    if (problem !== undefined) {
      err(`${printable(problem)}\n`);
      continue;
    }
    if (!canRemember) return {answer: 'session-rule', rule};
    const until = await ask('For the [s]ession, or [k]eep it in the configuration? ', signal);
    if (until === undefined) return undefined;
    return {answer: /^\s*k(?:eep)?\s*$/i.test(until) ? 'always' : 'session-rule', rule};
  }
  return undefined;
}
