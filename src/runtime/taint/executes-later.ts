import {commandParts} from '../approvals/command-parts.ts';
import {compilePathGlob} from '../approvals/rules/path-glob.ts';
import {LATER_EXECUTED} from './later-executed.data.ts';

/** Programs that write nothing, whatever they are given. */
const READERS: ReadonlySet<string> = new Set(
  'basename cat cmp cut diff dirname du echo false file grep head ls md5sum nl pwd readlink realpath rg sha256sum stat tail tr true uniq wc which'.split(
    ' ',
  ),
);
/** Programs that execute the file that follows, which writes nothing to it. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  'bash bun dash deno node perl php python python3 ruby sh tsx zsh'.split(' '),
);
/** A program in the words of the command itself: it cannot be told what it writes. */
const INLINE = /^(?:-[a-z]*[ce]|--eval|--command|-p|--print)$/;

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
 * programs that only read, or it cannot be told what it runs. `undefined` is no proof: a program writes what it likes.
 */
export function commandWritesLater(command: string): string | undefined {
  const parts = commandParts(command);
  if (!parts.ok) return `the command ${parts.error}, so that it cannot be told what it writes`;
  for (const part of parts.value) {
    const words = part.split(/\s+/).filter(word => word !== '');
    const [program = '', first = ''] = words;
    const isInterpreter = INTERPRETERS.has(program);
    if (isInterpreter && words.some(word => INLINE.test(word))) {
      return `\`${program}\` is given a program of its own, so that it cannot be told what it writes`;
    }
    if (READERS.has(program)) continue;
    const written = words.slice(isInterpreter && first !== '' ? 2 : 1);
    for (const word of written) {
      const path = word.replace(/^["']|["']$/g, '').replace(/^.*=/, '');
      const reason = executesLater(path);
      if (reason !== undefined) return `it names ${path}, which ${reason}`;
    }
  }
  return undefined;
}
