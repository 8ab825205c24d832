import {endsName} from './source-character.ts';

/** HTML 13.2.5.2: where the end tag `</name` of a raw text element begins, or -1 where there is none. */
export function rawTextEnd(source: string, start: number, name: string): number {
  for (let at = source.indexOf('</', start); at !== -1; at = source.indexOf('</', at + 2)) {
    const end = at + 2 + name.length;
    if (end < source.length && endsName(source.charCodeAt(end)) && isName(source, at + 2, name)) return at;
  }
  return -1;
}

const SCRIPT_MARKS = /<!--|-->|<(\/?)script(?=[\t\n\f />])/gi;

/** HTML 13.2.5.4: the same for a script, in which `<!-- <script> … </script> -->` hides an end tag. */
export function scriptEnd(source: string, start: number): number {
  const plainEnd = rawTextEnd(source, start, 'script');
  const comment = source.slice(start, plainEnd === -1 ? source.length : plainEnd).indexOf('<!--');
  if (comment === -1) return plainEnd;
  let isEscaped = false;
  let isDoubleEscaped = false;
  SCRIPT_MARKS.lastIndex = start + comment;
  for (let mark = SCRIPT_MARKS.exec(source); mark !== null; mark = SCRIPT_MARKS.exec(source)) {
    if (mark[0] === '<!--') {
      // Its dashes may be the dashes of the end.
      SCRIPT_MARKS.lastIndex = mark.index + 2;
      isEscaped = true;
    } else if (mark[0] === '-->') {
      isEscaped = false;
      isDoubleEscaped = false;
    } else if (mark[1] === '/') {
      if (!isDoubleEscaped) return mark.index;
      isDoubleEscaped = false;
    } else {
      isDoubleEscaped = isEscaped;
    }
  }
  return -1;
}

function isName(source: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((source.charCodeAt(start + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}
