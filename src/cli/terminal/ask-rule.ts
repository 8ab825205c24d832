import type {ApprovalAnswer, ApprovalQuestion, ApprovalRule} from '../../core/tool-host.ts';
import type {Console} from '../console.ts';
import {printable} from './printable.ts';
import {quoted} from './quoted.ts';

const MOST_TRIES = 3;
const PATTERNS = ['host', 'path', 'command_prefix'] as const;

interface Asking {
  readonly console: Console;
  readonly ask: NonNullable<Console['ask']>;
}

/** The rule that would settle the question, to be taken or edited. `undefined` where no usable one comes. */
export async function askRule(
  suggested: ApprovalRule,
  {canRemember, ruleProblem}: Pick<ApprovalQuestion, 'canRemember' | 'ruleProblem'>,
  {console, ask}: Asking,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  const {err} = console;
  const key = PATTERNS.find(name => suggested[name] !== '');
  if (key === undefined) return undefined;
  const tainted = suggested.tainted === true ? ', also after untrusted text (tainted = true),' : '';
  // The pattern is made of the call, so it is quoted as the rest of the call is.
  const pattern = quoted(JSON.stringify(suggested[key]), console);
  err(`${[`  The rule: allow ${suggested.tool}${tainted} where ${key} is`, ...pattern].join('\n')}\n`);
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
