export interface Query {
  readonly text: string;
  /** Otherwise it is searched for as it is. */
  readonly isRegex: boolean;
  /** Default: in any case. */
  readonly caseSensitive?: boolean | undefined;
  readonly wholeWord?: boolean | undefined;
  /** A match may span lines, never two files. */
  readonly multiline?: boolean | undefined;
}

/**
 * How lines are matched, the same wherever they are. `none` as encoding: what is text is UTF-8, as for
 * read_file. `-e` and `--` keep a query such as `--pre=…`, which would execute a program, a query.
 */
export function queryArguments(
  {text, isRegex, caseSensitive = false, wholeWord = false, multiline = false}: Query,
  path: string,
): readonly string[] {
  return [
    ...(caseSensitive ? [] : ['--ignore-case']),
    ...(wholeWord ? ['--word-regexp'] : []),
    // What ripgrep then takes for a line is a whole file: NUL is between them, and none of them has one.
    multiline ? '--null-data' : '--crlf',
    '--encoding=none',
    '--no-mmap',
    ...(isRegex ? [] : ['--fixed-strings']),
    '-e',
    text,
    '--',
    path,
  ];
}
