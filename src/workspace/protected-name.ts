/** What HFS+ and Unicode-aware comparison skip: default-ignorable code points and other format characters. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** What Windows drops from the end of a name, and what it takes for an alternate stream. */
const TAIL = /[. ]*(?::.*)?$/su;

/**
 * W1, W11: whether some file system takes the name for `.git`: other case, compatibility
 * characters, invisible characters, trailing dots and blanks, NTFS streams and short names.
 */
export function isProtectedName(name: string): boolean {
  const folded = name
    .normalize('NFKC')
    .replace(IGNORABLE, '')
    .toLowerCase()
    .normalize('NFKC')
    .replace(TAIL, '');
  return folded === '.git' || /^git~\d+$/.test(folded);
}
