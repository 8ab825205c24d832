// Splits a shell command into its parts, so that a rule can allow each. What cannot be read for sure is
// refused.
import {ok, type Result} from '../../core/result.ts';

/**
 * Builtins that change what the words of a later part mean, or read words as commands: `export PATH=…`, `source`,
 * and those of bash that take the name of a variable, whose index may hold a substitution. They stand alone or
 * nowhere.
 */
const CHANGES_OTHERS: ReadonlySet<string> = new Set(
  (
    '. : [ alias bind break builtin caller command compgen complete compopt continue coproc declare dirs ' +
    'disown enable eval exec exit export fc getopts hash history let local logout mapfile popd printf pushd ' +
    'read readarray readonly return set shift shopt source suspend test trap type typeset ulimit umask unalias ' +
    'unset wait'
  ).split(' '),
);

/** Words of the grammar, where a command is expected. */
const RESERVED: ReadonlySet<string> = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in namespace select then time until while'.split(
    ' ',
  ),
);

/** A program by its plain name or path. An `=` would be an assignment, and the rest is expanded or quoted. */
const PLAIN_PROGRAM = /^[\p{L}\p{N}_./+-][\p{L}\p{N}_./+:@%,-]*$/u;

/** Blanks of the grammar. Others, such as U+00A0, are part of a word to a shell and of none to a reader. */
const BLANK = /^[ \t]$/;
/** At the beginning of the rest. Behind it a word ends. */
const STDERR_TO_STDOUT = /^2>&1(?=[ \t\n;|]|&&|$)/;
const NAME = /^\$[A-Za-z_][A-Za-z0-9_]*/;
/** Controls, other blanks and line breaks, and what has no width: a reader and a shell see different words. */
const UNSEEN = /(?![\t\n])\p{Cc}|(?! )\p{Z}|\p{Cf}|\p{Cs}/u;
/** In quotes too: some builtins of bash read a word once more. */
const SUBSTITUTION = /`|\$\(/;

/**
 * The simple commands of a shell text, each as it is written there but for `2>&1`, or why it cannot be told what
 * they are: joined by `&&`, `;`, `|` or new lines, of plain words, quoted words and `$NAME` behind the program.
 * What dash, bash and busybox may read in different ways, or what hides a command from a reader, is refused. In
 * doubt it is refused too: the answer is a question to somebody.
 */
export function commandParts(text: string): Result<readonly string[], string> {
  if (UNSEEN.test(text)) return no('has a character that cannot be seen');
  if (SUBSTITUTION.test(text)) return no('has a substitution');
  const reader = new PartReader(text);
  const problem = reader.read();
  if (problem !== undefined) return no(problem);
  const {parts} = reader;
  if (parts.length === 0) return no('is empty');
  for (const part of parts) {
    const [program = ''] = part.split(/[ \t]/, 1);
    if (RESERVED.has(program)) return no(`has the shell word \`${program}\``);
    if (!PLAIN_PROGRAM.test(program))
      return no(`begins a part with \`${program}\`, which is no plain program`);
    if (CHANGES_OTHERS.has(program) && (parts.length > 1 || part.includes('['))) {
      return no(`has \`${program}\`, which can change what the other parts do`);
    }
  }
  return ok(parts);
}

function no(problem: string): Result<never, string> {
  return {ok: false, error: problem};
}

/** One pass, from left to right. */
class PartReader {
  readonly parts: string[] = [];
  readonly #text: string;
  #at = 0;
  #part = '';
  #hasProgram = false;
  /** Whether a part must follow, as behind `&&`. */
  #isExpected = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** What cannot be read, if anything. */
  read(): string | undefined {
    while (this.#at < this.#text.length) {
      const problem = this.#step();
      if (problem !== undefined) return problem;
    }
    return this.#endPart('') ?? (this.#isExpected ? 'ends where a command is expected' : undefined);
  }

  #step(): string | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const [first = ''] = rest;
    if (rest === '&&') return this.#endPart('&&');
    if (rest === '||' || rest === '|&') return `has \`${rest}\``;
    if (first === '|' || first === ';' || first === '\n') return this.#endPart(first);
    if (BLANK.test(first)) {
      this.#take(1);
      return undefined;
    }
    return this.#word();
  }

  #endPart(separator: string): string | undefined {
    const part = this.#part.trim();
    this.#part = '';
    this.#hasProgram = false;
    this.#at += separator.length;
    // A line may be empty, and one may end behind an operator.
    if (part === '') return separator === '\n' || separator === '' ? undefined : 'has an empty part';
    this.parts.push(part);
    this.#isExpected = separator === '&&' || separator === '|' || separator === ';';
    return undefined;
  }

  #word(): string | undefined {
    const redirected = STDERR_TO_STDOUT.exec(this.#text.slice(this.#at, this.#at + 6));
    if (redirected !== null) {
      if (!this.#hasProgram) return 'begins a part with `2>&1`';
      this.#at += redirected[0].length;
      return undefined;
    }
    if (this.#text[this.#at] === '#') return 'has a comment';
    const isProgram = !this.#hasProgram;
    this.#hasProgram = true;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      if (/[ \t\n;&|]/.test(character))
        return character === '&' && this.#text[this.#at + 1] !== '&' ? 'has `&`' : undefined;
      const problem = this.#piece(character, isProgram);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #piece(character: string, isProgram: boolean): string | undefined {
    switch (character) {
      case "'":
        return this.#quoted();
      case '"':
        return this.#doubleQuoted();
      case '\\': {
        const next = this.#text[this.#at + 1];
        if (next === undefined || next === '\n') return 'has a backslash at the end of a line';
        this.#take(2);
        return undefined;
      }
      case '$':
        return isProgram
          ? 'has an expansion in the place of a program'
          : this.#expansion(/^\$(?=[ \t\n;|]|&&|$)/);
      case '`':
        return 'has a substitution';
      case '<':
      case '>':
        return 'has a redirection';
      case '(':
      case ')':
        return 'has parentheses';
      default:
        this.#take(1);
        return undefined;
    }
  }

  #quoted(): string | undefined {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) return 'has a quote that does not end';
    return this.#takeQuoted(end + 1 - this.#at);
  }

  #doubleQuoted(): string | undefined {
    const start = this.#at;
    this.#take(1);
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      if (character === '"') {
        this.#take(1);
        return this.#text.slice(start, this.#at).includes('\n') ? 'has a quote of several lines' : undefined;
      }
      if (character === '`') return 'has a substitution';
      if (character === '\\') this.#take(2);
      else if (character === '$') {
        const problem = this.#expansion(/^\$(?=["]| )/);
        if (problem !== undefined) return problem;
      } else this.#take(1);
    }
    return 'has a quote that does not end';
  }

  /** `$NAME`, or a dollar sign that no shell takes for more. */
  #expansion(literal: RegExp): string | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 200);
    const found = NAME.exec(rest) ?? literal.exec(rest);
    if (found === null) return 'has an expansion';
    // bash reads an index behind a name in a few places only, and nobody needs it here.
    if (this.#text[this.#at + found[0].length] === '[') return 'has an expansion';
    this.#take(found[0].length);
    return undefined;
  }

  #takeQuoted(length: number): string | undefined {
    if (this.#text.slice(this.#at, this.#at + length).includes('\n')) return 'has a quote of several lines';
    this.#take(length);
    return undefined;
  }

  #take(length: number): void {
    this.#part += this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
  }
}

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
