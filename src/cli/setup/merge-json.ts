import type {Result} from '../../core/result.ts';

type Table = Readonly<Record<string, unknown>>;
/** From what is there. The error is a sentence. */
type MakeEntry = (own: Table) => Result<Table, string>;

/** The text of a JSON file with what `entry` makes of what is under `key` and `name`; everything else is as it was. The error is a sentence. */
export function mergeJson(
  before: string,
  {key, name, entry}: {readonly key: string; readonly name: string; readonly entry: MakeEntry},
): Result<string, string> {
  const text = before.replace(/^\uFEFF/, '');
  if (text.trim() === '') {
    const made = entry({});
    return made.ok ? {ok: true, value: write({[key]: {[name]: made.value}}, '  ')} : made;
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return refuse('is not plain JSON; it has comments, or is damaged');
  }
  if (!isTable(parsed)) return refuse('is not a JSON object');
  // Written anew, 1.0 would be 1, a long number another one, and a name that is there twice there once.
  if (shape(text) !== shape(JSON.stringify(parsed)))
    return refuse('has numbers or names that writing it anew would change');
  const servers = Object.hasOwn(parsed, key) ? parsed[key] : {};
  if (!isTable(servers)) return refuse(`has a ${JSON.stringify(key)} that is not an object`);
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  const own = Object.hasOwn(servers, name) ? servers[name] : {};
  const made = entry(isTable(own) ? own : {});
  if (!made.ok) return made;
  const value = write({...parsed, [key]: {...servers, [name]: made.value}}, indent);
  return {ok: true, value: text.endsWith('\n') ? value : value.slice(0, -1)};
}

function write(value: object, indent: string): string {
  return `${JSON.stringify(value, null, indent)}\n`;
}

/** All but the strings, whose escapes may differ. Their number is kept. */
function shape(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\s+/g, '');
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(error: string): Result<never, string> {
  return {ok: false, error};
}
