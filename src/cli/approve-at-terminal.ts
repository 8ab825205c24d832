// Asks a person at the terminal whether a call may run. It shows the call behind a bar that no text can leave,
// reads the answer and proposes a rule.
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApprovalRule,
  type Approver,
  headOfQuestion,
} from '../core/tool-host.ts';
import {type Console, printable, styled} from './console.ts';
import {renderReason, renderSummary} from './print-result.ts';
import {quoted} from './text-layout.ts';

/** Somebody whose answers make no sense this often is not reading them. */
const MOST_TRIES = 3;

type Choice = 'once' | 'session' | 'always' | 'no' | 'stop';

const WORDS: Readonly<Record<string, Choice>> = {
  y: 'once',
  yes: 'once',
  o: 'once',
  once: 'once',
  s: 'session',
  session: 'session',
  a: 'always',
  always: 'always',
  '': 'no',
  n: 'no',
  no: 'no',
  t: 'stop',
  stop: 'stop',
};

/** Asks at the prompt. `undefined` where nobody sits there. */
export function terminalApprover(console: Console): Approver | undefined {
  const {ask} = console;
  if (ask === undefined) return undefined;
  return {
    ask: async (question, signal) => {
      console.err(renderQuestion(question, console));
      for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
        const line = await ask(`Allow it? ${choices(question)}`, signal);
        if (line === undefined) return hungUp();
        if (/^\s*\?+\s*$/.test(line)) {
          console.err(`${explain(question)}\n`);
          // Who asks is reading. It cannot be asked for ever: an input that ends is no answer.
          attempt--;
          continue;
        }
        const {choice, rest} = readChoice(line);
        switch (choice) {
          case 'once':
          case 'session':
            if (rest === '') return {answer: choice};
            break;
          case 'always': {
            const rule = question.suggestedRule;
            if (rule === undefined || rest !== '') break;
            const answer = await askRule(rule, question, {console, ask}, signal);
            if (answer !== undefined) return answer;
            break;
          }
          case 'no':
          case 'stop': {
            const by = choice === 'no' ? 'refuse' : 'stop';
            if (rest !== '') return refusal(by, rest);
            // An empty line is a no, and text without a word of ours is no answer.
            const reason = await ask('Why not? The model reads it (Enter for no reason): ', signal);
            return refusal(by, reason ?? '');
          }
          case undefined:
            break;
        }
        console.err(`${printable(JSON.stringify(line.trim()))} is no answer here. "?" explains them.\n`);
      }
      return {
        answer: 'refuse',
        reason: 'the answers at the terminal could not be understood',
        unanswered: true,
      };
    },
  };
}

function choices({suggestedRule}: ApprovalQuestion): string {
  const always = suggestedRule === undefined ? '' : '[a]lways by a rule, ';
  return `[y]es, this once, this exact call for the [s]ession, ${always}[N]o, s[t]op, [?]: `;
}

function explain({suggestedRule, canRemember}: ApprovalQuestion): string {
  const kept = canRemember ? 'the session, or kept in the configuration' : 'the session';
  return [
    '  y, yes     this call, once (also o, once)',
    '  s          this exact call, until the session ends',
    suggestedRule === undefined
      ? '  (a)        not offered: no rule can cover this call, such as a command with operators or variables'
      : `  a          what a rule covers that you can edit, for ${kept}`,
    '  n, no      not this call; "n use the other file" gives the model a reason. Enter alone is no, too',
    '  t, stop    not this call, and no later one of the session',
  ].join('\n');
}

/** `y`, `yes`, `once`, `s`, `a`, `n`, `no: use the other file`, `stop`; an empty line is a no. */
function readChoice(line: string): {readonly choice: Choice | undefined; readonly rest: string} {
  const [, word = '', rest = ''] = /^\s*([a-z]*)[\s,:;.]*(.*)$/is.exec(line) ?? [];
  const choice = word === '' && rest !== '' ? undefined : WORDS[word.toLowerCase()];
  return {choice, rest: rest.trim()};
}

function refusal(answer: 'refuse' | 'stop', text: string): ApprovalAnswer {
  const reason = text.trim();
  return reason === '' ? {answer} : {answer, reason};
}

function hungUp(): ApprovalAnswer {
  return {answer: 'refuse', reason: 'the terminal was closed without an answer', unanswered: true};
}
const PATTERNS = ['host', 'path', 'command_prefix'] as const;

interface Asking {
  readonly console: Console;
  readonly ask: NonNullable<Console['ask']>;
}

/** The rule that would settle the question, to be taken or edited. `undefined` where no usable one comes. */
async function askRule(
  suggested: ApprovalRule,
  {canRemember, ruleProblem}: Pick<ApprovalQuestion, 'canRemember' | 'ruleProblem'>,
  {console, ask}: Asking,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  const {err} = console;
  const key = PATTERNS.find(name => suggested[name] !== undefined);
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

/** What the approver is asked: why it is asked, and behind a bar what would be done, with its diff, command or address. */
export function renderQuestion(question: ApprovalQuestion, console: Console): string {
  const head = headOfQuestion(question);
  return [
    styled(console, 'bold', `${question.tool} needs an approval.`),
    `  Why it is asked: ${renderReason(question)}`,
    ...(head === undefined ? [] : renderSummary(head, console)),
    ...quoted(question.preview, console),
    '',
  ].join('\n');
}
