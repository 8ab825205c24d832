import {ok, type Result} from '../../../core/result.ts';
import {commandParts} from '../command-parts.ts';

/** What the first words of one program cannot hold. */
const OPERATOR = /[;&|<>`\n\r\0]|\$\(/;
const BETWEEN_PARTS = /[;&|`\n\r(){}]+/;
/** What may stand before a program: assignments, redirections, words of the grammar, and programs that start others. */
const BEFORE_PROGRAM =
  /^(?:[A-Za-z_]\w*\+?=\S*|\d*(?:<|>|>>)\s*\S+|\d+|!|if|then|elif|else|while|until|do|time|command|exec|eval|builtin|env|nice|nohup|sudo|xargs)\s+/;

/**
 * First words of a command, on word boundaries. An `allow` takes a text of which it can be told what it runs, and
 * every part of it has to begin with the words as they stand. `ask` and `deny` try every part between operators,
 * whatever else the text holds, so that `cd x && git push` is a `git push` to them, and so is `X=1 "git" push`.
 */
export function compileCommandPrefix(
  prefix: string,
  decision: 'allow' | 'ask' | 'deny',
): Result<(command: string) => boolean, string> {
  const words = prefix.trim();
  if (OPERATOR.test(words)) return {ok: false, error: 'has shell operators; write the first words only'};
  if (decision === 'allow') {
    return ok(command => {
      const parts = commandParts(command);
      return parts.ok && parts.value.every(part => starts(part, words));
    });
  }
  const wanted = wordsOf(words);
  return ok(command => {
    const joined = command.replaceAll('\\\n', '');
    const plain = joined.replace(/["'\\]/g, '');
    // A brace with a blank behind it begins a group, another one stands for words.
    const bare = plain.replace(REDIRECTION, ' ').replace(/\{(?=\S)/g, '$');
    return [joined, plain, bare].some(text =>
      text
        .split(BETWEEN_PARTS)
        .some(part => startings(withSingleBlanks(part)).some(start => mayStart(wordsOf(start), wanted))),
    );
  });
}

/** The part, and what is left of it without each of the words before its program. */
function startings(part: string): readonly string[] {
  const all = [part];
  for (let rest = part; ; ) {
    const before = BEFORE_PROGRAM.exec(rest);
    if (before === null) return all;
    rest = rest.slice(before[0].length);
    all.push(rest);
  }
}

/** A redirection, which a shell takes out of the words wherever it stands. */
const REDIRECTION = /\d*(?:>>|>\||<>|>|<)&?\s*[^\s;&|]+/g;
/** What a shell puts in its place is not known: nothing, or any word. */
const UNKNOWN = /[$`*?[{]/;

/** Whether the words can be those once a shell has read them. In doubt they can. */
function mayStart(words: readonly string[], wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  const [word, ...rest] = words;
  if (word === undefined) return false;
  if (UNKNOWN.test(word)) return mayStart(rest, wanted) || mayStart(rest, wanted.slice(1));
  return word === wanted[0] && mayStart(rest, wanted.slice(1));
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter(word => word !== '');
}

/** To a shell other blanks than these are part of a word. */
function starts(command: string, words: string): boolean {
  return command.startsWith(words) && /^(?:[ \t]|$)/.test(command.slice(words.length, words.length + 1));
}

function withSingleBlanks(text: string): string {
  return text.trim().split(/\s+/).join(' ');
}
