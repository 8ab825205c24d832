// Finds out whether a path or a command writes what is executed later.
import {posix} from 'node:path';
import {compilePathGlob} from '../approvals/rules.ts';
import {commandParts} from '../approvals/shell-words.ts';
import {LATER_EXECUTED} from './later-executed.data.ts';

/** Programs that write nothing, whatever they are given. */
const READERS: ReadonlySet<string> = new Set(
  'basename cat cmp cut diff dirname du echo false file grep head ls md5sum nl pwd readlink realpath rg sha256sum stat tail tr true wc which'.split(
    ' ',
  ),
);
/** Programs that execute the file that follows, which writes nothing to it. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  'bash bun dash deno node perl php python python3 ruby sh tsx zsh'.split(' '),
);
const SHELLS: ReadonlySet<string> = new Set('bash dash sh zsh'.split(' '));
/** A program in the words of the command itself, or from its input. */
const INLINE = /^(?:-[a-z]*[ce]|-[^-].*[\s()'"$;{|&<>].*|-|-p|--eval|--print|--command|eval)$/is;
/** Programs whose words are programs, or make the words of others. */
const PROGRAMMED: ReadonlySet<string> = new Set(
  'awk ed eval ex gawk mawk nawk parallel sed trap vi vim xargs'.split(' '),
);
/** Prints lines by their numbers, as `sed` is used mostly. */
const PRINTS_LINES = /^-n [0-9]+(?:,(?:[0-9]+|\$))?p(?: [^-]|$)/;
/** What sandboxes show the workspace as. */
const ROOT = '/workspace';
/** Directories that a command may be in, as a `cd` may fail or be undone by a pipe. */
const MOST_DIRECTORIES = 64;

/** As the program gets it. */
interface Word {
  readonly text: string;
  /** The shell fills something in: files, a variable, a home, alternatives. */
  readonly isOpen: boolean;
}

interface Compiled {
  readonly matches: (path: string) => boolean;
  readonly reason: string;
}

let compiled: readonly Compiled[] | undefined;

/** What executes the file later, or `undefined`. Upper and lower case are the same, as some file systems have it. */
export function executesLater(path: string): string | undefined {
  compiled ??= LATER_EXECUTED.flatMap(({patterns, reason}) =>
    patterns.map(one => ({matches: matcher(one), reason})),
  );
  const name = path.toLowerCase();
  return compiled.find(({matches}) => matches(name))?.reason;
}

function matcher(pattern: string): (path: string) => boolean {
  const glob = compilePathGlob(pattern);
  if (!glob.ok) throw new Error(`${pattern} ${glob.error}`);
  return glob.value;
}

/**
 * What a command may write that executes later, as far as its words say: it names such a file and is none of the
 * programs that only read, or it cannot be told what it runs or writes. `undefined` is no proof: a program writes what
 * it likes.
 */
export function commandWritesLater(command: string): string | undefined {
  const parts = commandParts(command);
  if (!parts.ok) return `the command ${parts.error}, so that it cannot be told what it writes`;
  let directories: readonly string[] = [ROOT];
  for (const part of parts.value) {
    const [program, ...words] = wordsOf(part);
    if (program === undefined || READERS.has(program.text)) continue;
    const untold = untoldBy(program.text, words);
    if (untold !== undefined) return `${untold}, so that it cannot be told what it writes`;
    if (program.text === 'cd') {
      const target = words.map(({text}) => text).find(text => !/^-[LP]$|^--$/.test(text)) ?? '-';
      directories = [...new Set([...directories, ...directories.map(from => posix.resolve(from, target))])];
      if (target.startsWith('-') || directories.length > MOST_DIRECTORIES)
        return 'it cannot be told in which directory it writes';
      continue;
    }
    // What an interpreter executes, it does not write.
    const written = words.slice(INTERPRETERS.has(program.text) ? 1 : 0).map(({text}) => text);
    const found = directories.map(from => writtenLater(posix.basename(program.text), written, from));
    const reason = found.find(one => one !== undefined);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Why the words do not say what is written. */
function untoldBy(program: string, words: readonly Word[]): string | undefined {
  const texts = [program, ...words.map(({text}) => text)];
  // Behind `timeout 5`, `env` or `find -exec` too.
  for (const [at, text] of texts.entries()) {
    const name = posix.basename(text);
    const after = texts.slice(at + 1);
    if (PROGRAMMED.has(name) && !(name === 'sed' && PRINTS_LINES.test(after.join(' '))))
      return `\`${name}\` is told by its words what to do`;
    if (!INTERPRETERS.has(name)) continue;
    const isFed = texts.length === 1 || (SHELLS.has(name) && after.every(word => word.startsWith('-')));
    if (isFed || after.some(word => INLINE.test(word)) || (name === 'php' && after.includes('-r')))
      return `\`${name}\` is given a program of its own`;
  }
  const open = words.find(({isOpen}) => isOpen);
  return open === undefined ? undefined : `the shell fills in \`${open.text}\``;
}

/** What the words of one program name that executes later, where it runs in that directory. */
function writtenLater(program: string, words: readonly string[], from: string): string | undefined {
  const paths = words.flatMap(namesIn).map(name => ({name, path: posix.resolve(from, name)}));
  for (const {path} of paths) {
    for (const place of placesOf(path)) {
      const reason =
        executesLater(place) ?? (holdsLater(place) ? 'has files that are executed later' : undefined);
      if (reason !== undefined) return `it names ${place}, which ${reason}`;
    }
  }
  if (program === 'ln' && paths.some(({path}) => !path.startsWith(`${ROOT}/`)))
    return 'it makes another name for the workspace, or for what is outside of it';
  // What is moved to the root has its last name there.
  if (!paths.some(({path}) => path === ROOT)) return undefined;
  for (const {name, path} of paths) {
    const last = posix.basename(path);
    if (path !== ROOT && (executesLater(last) !== undefined || holdsLater(last)))
      return `it may put ${last} into the root of the workspace`;
    if (/.\/\.?$/.test(name) && path !== ROOT)
      return `it may put all that is in ${name} into the root of the workspace`;
  }
  return undefined;
}

/** What a word may name: itself, what follows an equals sign, or what follows the letter of an option. */
function namesIn(word: string): readonly string[] {
  const pieces = word.split('=');
  const values = pieces.map((_, at) => pieces.slice(at).join('='));
  return [...values, /^-[^-]/.test(word) ? word.slice(2) : ''].filter(name => name !== '');
}

/** Names below the root of the workspace. Outside of it, it may be anywhere on the way, as it may have another name. */
function placesOf(path: string): readonly string[] {
  if (path === ROOT) return [];
  if (path.startsWith(`${ROOT}/`)) return [path.slice(ROOT.length + 1)];
  const names = path.split('/').slice(1);
  return names.map((_, at) => names.slice(at).join('/'));
}

/** Whether files are executed later below a directory of that name, though not all of them. */
function holdsLater(directory: string): boolean {
  const beginning = `/${directory.toLowerCase()}/`;
  return LATER_EXECUTED.some(({patterns}) => patterns.some(pattern => pattern.startsWith(beginning)));
}

/** The words of a simple command that `commandParts` has read, without quotes and backslashes. */
function wordsOf(part: string): readonly Word[] {
  const words: Word[] = [];
  let text = '';
  let isOpen = false;
  let isBegun = false;
  const end = (): void => {
    if (isBegun) words.push({text, isOpen});
    [text, isOpen, isBegun] = ['', false, false];
  };
  for (const [, single, double, escaped, plain, blank] of part.matchAll(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^ \t\n])|([ \t\n]+)/g,
  )) {
    if (blank !== undefined) {
      end();
      continue;
    }
    isBegun = true;
    isOpen ||= double?.replace(/\\[\s\S]/g, '').includes('$') ?? false;
    isOpen ||= plain !== undefined && (/[*?[{$]/.test(plain) || (plain === '~' && /(?:^|[=:])$/.test(text)));
    text += single ?? double?.replace(/\\([$`"\\])/g, '$1') ?? escaped ?? plain ?? '';
  }
  end();
  return words;
}
