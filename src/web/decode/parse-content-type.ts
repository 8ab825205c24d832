export interface ContentType {
  /** `type/subtype` in lower case; `undefined` where the header is missing or empty. */
  readonly mediaType: string | undefined;
  /** The `charset` parameter as written; `undefined` where absent or empty. */
  readonly charset: string | undefined;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/**
 * FR-WF-CT-01, by Fetch "extract a MIME type": of several values the last valid one counts, and
 * keeps the charset of an earlier one of the same type. Where none is valid, the first is returned
 * as it is, so that the refusal can name it.
 */
export function parseContentType(values: readonly string[] | undefined): ContentType {
  const written = splitValues((values ?? []).join(','));
  let found: ContentType | undefined;
  for (const value of written) {
    const parsed = parseMimeType(value);
    if (parsed === undefined || parsed.mediaType === '*/*') continue;
    const inherits = parsed.charset === undefined && parsed.mediaType === found?.mediaType;
    found = inherits ? {...parsed, charset: found?.charset} : parsed;
  }
  return found ?? {mediaType: essence(written[0] ?? '') || undefined, charset: undefined};
}

/** Comma-separated values, but for commas inside quotes; empty ones are dropped. */
function splitValues(header: string): readonly string[] {
  const values: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < header.length; at += 1) {
    const char = header[at];
    if (quoted && char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted) {
      values.push(header.slice(start, at));
      start = at + 1;
    }
  }
  values.push(header.slice(start));
  return values.map(value => value.trim()).filter(value => value !== '');
}

function essence(value: string): string {
  return value.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** WHATWG MIME Sniffing §4.4, reduced to the essence and the first `charset`. */
function parseMimeType(value: string): ContentType | undefined {
  const mediaType = essence(value);
  const [type = '', subtype = '', ...more] = mediaType.split('/');
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || more.length > 0) return undefined;
  let at = value.indexOf(';');
  while (at !== -1 && at < value.length) {
    const parameter = readParameter(value, at + 1);
    if (parameter.name === 'charset' && parameter.value !== '') return {mediaType, charset: parameter.value};
    at = parameter.end;
  }
  return {mediaType, charset: undefined};
}

interface Parameter {
  readonly name: string;
  readonly value: string;
  /** Where the next `;` stands, or the end. */
  readonly end: number;
}

function readParameter(text: string, start: number): Parameter {
  let equals = start;
  while (equals < text.length && text[equals] !== ';' && text[equals] !== '=') equals += 1;
  if (text[equals] !== '=') return {name: '', value: '', end: equals};
  const name = text.slice(start, equals).trimStart().toLowerCase();
  if (text[equals + 1] !== '"') {
    const end = endOf(text, ';', equals);
    return {name, value: text.slice(equals + 1, end).trim(), end};
  }

  let value = '';
  let at = equals + 2;
  for (; at < text.length && text[at] !== '"'; at += 1) {
    if (text[at] === '\\' && at + 1 < text.length) at += 1;
    value += text[at];
  }
  return {name, value, end: endOf(text, ';', at)};
}

function endOf(text: string, char: string, start: number): number {
  const at = text.indexOf(char, start);
  return at === -1 ? text.length : at;
}
