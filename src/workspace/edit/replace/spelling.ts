/** Characters that editors, chats and models put in the place of plain ones. */
const STRAIGHT: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/\u2026/g, '...'],
];

export function straightQuotes(text: string): string {
  let straight = text;
  for (const [curly, plain] of STRAIGHT) straight = straight.replace(curly, plain);
  return straight;
}

/** No invisible characters, blanks of all widths as spaces, letters composed. */
export function visible(text: string): string {
  return text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Zs}]/gu, ' ')
    .normalize('NFC');
}

/** What is left of a text for comparing it loosely: no white space, nothing invisible, plain quotes. */
export function bare(text: string): string {
  const dense = text.replace(/\s+/g, '');
  return /^[\x21-\x7e]*$/.test(dense) ? dense : straightQuotes(visible(dense)).replace(/\s+/g, '');
}
