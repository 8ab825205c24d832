/** What HFS+ and Unicode-aware comparison skip: default-ignorable code points and other format characters. */
const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** What Windows drops from the end of a name, and what it takes for an alternate stream. */
const TAIL = /[. ]*(?::.*)?$/su;

/**
 * W1, W11: two names that some file system takes for one fold to the same text: other case, compatibility
 * characters, invisible characters, trailing dots and blanks, NTFS streams.
 */
export function foldName(name: string): string {
  return name.normalize('NFKC').replace(IGNORABLE, '').toLowerCase().normalize('NFKC').replace(TAIL, '');
}
