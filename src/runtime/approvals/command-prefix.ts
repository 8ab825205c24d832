import {ok, type Result} from '../../core/result.ts';

/** What makes more of a command than one program and its words, and what writes somewhere else. */
const OPERATOR = /[;&|<>`\n\r\0]|\$\(/;
const BETWEEN_PARTS = /[;&|`\n\r(){}]+/;

/**
 * First words of a command, on word boundaries. Shell text is not understood: an `allow` takes the
 * plain words as they stand, and no command with an operator; `ask` and `deny` try every part
 * between operators, so that `cd x && git push` is a `git push` to them.
 */
export function compileCommandPrefix(
  prefix: string,
  decision: 'allow' | 'ask' | 'deny',
): Result<(command: string) => boolean, string> {
  const words = prefix.trim();
  if (OPERATOR.test(words)) return {ok: false, error: 'has shell operators; write the first words only'};
  if (decision === 'allow') return ok(command => !OPERATOR.test(command) && starts(command.trim(), words));
  const spaced = withSingleBlanks(words);
  return ok(command => command.split(BETWEEN_PARTS).some(part => starts(withSingleBlanks(part), spaced)));
}

function starts(command: string, words: string): boolean {
  return command.startsWith(words) && /^(?:\s|$)/.test(command.slice(words.length, words.length + 1));
}

function withSingleBlanks(text: string): string {
  return text.trim().split(/\s+/).join(' ');
}
