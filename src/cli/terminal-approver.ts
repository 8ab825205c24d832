import type {ApprovalAnswer, ApprovalQuestion, Approver} from '../core/tool-host.ts';
import {barred} from './barred.ts';
import {type Console, styled} from './console.ts';
import {printable} from './printable.ts';
import {renderReason} from './render-reason.ts';

/** Somebody whose answers make no sense this often is not reading them. */
const MOST_TRIES = 3;

const CHOICES = '[o]nce, this exact call for the [s]ession, [N]o: ';

/** Asks at the prompt. `undefined` where nobody sits there. */
export function terminalApprover(console: Console): Approver | undefined {
  const {ask} = console;
  if (ask === undefined) return undefined;
  return {
    ask: async (question, signal) => {
      console.err(renderQuestion(question, console));
      for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
        const line = await ask(`Allow it? ${CHOICES}`, signal);
        if (line === undefined)
          return {answer: 'refuse', reason: 'the terminal was closed without an answer'};
        const answer = readAnswer(line);
        if (answer?.answer === 'refuse' && answer.reason === undefined) {
          const reason = await ask('Why not? The model reads it (Enter for no reason): ', signal);
          return refusal(reason ?? '');
        }
        if (answer !== undefined) return answer;
      }
      return {answer: 'refuse', reason: 'the answers at the terminal could not be understood'};
    },
  };
}

function renderQuestion(question: ApprovalQuestion, console: Console): string {
  const {tool, summary, preview} = question;
  return [
    styled(console, 'bold', `${tool} needs an approval.`),
    `  ${printable(summary).replaceAll('\n', ' ')}`,
    `  Why it is asked: ${renderReason(question)}`,
    ...(preview.trim() === summary ? [] : barred(preview, console.columns)),
    '',
  ].join('\n');
}

/** `o`, `once`, `s`, `session`, `n`, `no`, `no: use the other file`; an empty line is a no. */
function readAnswer(line: string): ApprovalAnswer | undefined {
  const [, word = '', rest = ''] = /^\s*([a-z]*)[\s,:;.]*(.*)$/is.exec(line) ?? [];
  switch (word.toLowerCase()) {
    case 'o':
    case 'once':
      return rest === '' ? {answer: 'once'} : undefined;
    case 's':
    case 'session':
      return rest === '' ? {answer: 'session'} : undefined;
    case '':
      return rest === '' ? {answer: 'refuse'} : undefined;
    case 'n':
    case 'no':
      return refusal(rest);
    default:
      return undefined;
  }
}

function refusal(text: string): ApprovalAnswer {
  const reason = text.trim();
  return reason === '' ? {answer: 'refuse'} : {answer: 'refuse', reason};
}
