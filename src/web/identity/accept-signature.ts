/** What stands behind a `;` of a structured field. */
export type FieldParameters = ReadonlyMap<string, FieldValue>;

export type FieldValue =
  | {readonly kind: 'string'; readonly text: string}
  /** A number, token, byte sequence or boolean, as it is written. */
  | {readonly kind: 'other'; readonly text: string};

/** A signature that a server asks for: one member of `Accept-Signature` (RFC 9421 §5.1). */
export interface AskedSignature {
  readonly label: string;
  readonly components: readonly {readonly name: string; readonly parameters: FieldParameters}[];
  readonly parameters: FieldParameters;
}

/** A field of this length asks for a signature near its start, or not for ours. */
const MOST_CHARACTERS = 4096;

const KEY = /[a-z*][a-z0-9_.*-]{0,63}/y;
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const OTHER = /-?\d{1,15}(?:\.\d{1,3})?|\?[01]|:[A-Za-z0-9+/=]*:|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;

/** RFC 9651 §4.2.2: the members that are inner lists; none where the field is not of that form. */
export function parseAcceptSignature(field: string): readonly AskedSignature[] {
  const reader = new FieldReader(field.slice(0, MOST_CHARACTERS));
  const asked: AskedSignature[] = [];
  do {
    reader.skip(/[ \t]*/y);
    const label = reader.take(KEY)?.[0];
    if (label === undefined || !reader.skip(/=\(/y)) return [];
    const components = readComponents(reader);
    const parameters = components && readParameters(reader);
    if (!components || !parameters) return [];
    asked.push({label, components, parameters});
  } while (reader.skip(/[ \t]*,/y));
  return reader.isAtEnd ? asked : [];
}

function readComponents(reader: FieldReader): AskedSignature['components'] | undefined {
  const components: AskedSignature['components'][number][] = [];
  for (;;) {
    reader.skip(/ */y);
    if (reader.skip(/\)/y)) return components;
    const name = reader.take(STRING)?.[1];
    const parameters = name === undefined ? undefined : readParameters(reader);
    if (name === undefined || !parameters) return undefined;
    components.push({name, parameters});
  }
}

function readParameters(reader: FieldReader): FieldParameters | undefined {
  const parameters = new Map<string, FieldValue>();
  while (reader.skip(/; */y)) {
    const name = reader.take(KEY)?.[0];
    if (name === undefined) return undefined;
    let value: FieldValue = {kind: 'other', text: '?1'};
    if (reader.skip(/=/y)) {
      const quoted = reader.take(STRING)?.[1];
      const text = quoted?.replace(/\\(["\\])/g, '$1') ?? reader.take(OTHER)?.[0];
      if (text === undefined) return undefined;
      value = {kind: quoted === undefined ? 'other' : 'string', text};
    }
    parameters.set(name, value);
  }
  return parameters;
}

/** Goes through a field by expressions that match at its place or not at all. */
class FieldReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#text.slice(this.#at).trim() === '';
  }

  take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text);
    if (!match) return undefined;
    this.#at = expression.lastIndex;
    return match;
  }

  skip(expression: RegExp): boolean {
    return this.take(expression) !== undefined;
  }
}
