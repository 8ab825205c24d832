/** A command as a person pastes it into a POSIX shell. */
export function shellWords(words: readonly string[]): string {
  return words
    .map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/**
 * A command as a person pastes it into cmd.exe or PowerShell. There is none where a word means different things to
 * the two: both expand names (`%A%`, `$A`), and write a double quote in another way.
 */
export function windowsShellWords(words: readonly string[]): string | undefined {
  if (words.some(word => /["%$`!^]/.test(word))) return undefined;
  // A script of PowerShell, such as npm installs, is not handed a bare "--".
  return words.map(word => (/^[\w@+=:./\\-]+$/.test(word) && word !== '--' ? word : `"${word}"`)).join(' ');
}
