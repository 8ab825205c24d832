import {type ByteString, byteString, bytesOf} from '../byte-string.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

export interface UnquotedName {
  readonly name: ByteString;
  /** Where the text goes on after the closing quote. */
  readonly end: number;
}

/** Reads a C-quoted name (`"\303\244.txt"`) that begins at the start of `text`; undefined if it is malformed. */
export function unquoteName(text: ByteString): UnquotedName | undefined {
  if (text[0] !== '"') return undefined;
  let name = '';
  let at = 1;
  while (at < text.length) {
    const character = text[at] ?? '';
    at += 1;
    if (character === '"') return {name, end: at};
    if (character !== '\\') {
      name += character;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at, at + 3))?.[0];
    if (octal !== undefined) {
      name += String.fromCharCode(Number.parseInt(octal, 8));
      at += 3;
      continue;
    }
    const escaped = ESCAPES[text[at] ?? ''];
    if (escaped === undefined) return undefined;
    name += escaped;
    at += 1;
  }
  return undefined;
}

/** The name as a diff header carries it: quoted only where a control character, `"` or `\` makes that necessary. */
export function quoteName(path: string): ByteString {
  const name = byteString(Buffer.from(path));
  if (!/[\x00-\x1f\x7f"\\]/.test(name)) return name;
  const quoted = name.replace(/[\x00-\x1f\x7f"\\]/g, character => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return `"${quoted}"`;
}

/** The name as text; undefined where its bytes are not UTF-8 and so no path of ours can be meant. */
export function decodeName(name: ByteString): string | undefined {
  const bytes = bytesOf(name);
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
