/** src/tools/tool-methods.data.ts: what the schemas of the tools say, as types and methods of the library, one a line. */
export function renderToolMethods(tools) {
  const types = tools.flatMap(({name, title, paramsSchema, dataSchema}) => [
    `/** Parameters of \`${name}\`: ${lowerFirst(title)}. */`,
    `export type ${pascal(name)}Params = ${typeOf(paramsSchema, ' | undefined')};`,
    '',
    `/** What \`${name}\` answers. */`,
    `export type ${pascal(name)}Data = ${typeOf(dataSchema, '')};`,
    '',
  ]);
  const entries = tools.flatMap(({name, title}) => [
    `  /** ${title}. */`,
    `  readonly ${name}: {readonly params: ${pascal(name)}Params; readonly data: ${pascal(name)}Data};`,
  ]);
  const methods = tools.flatMap(({name, description, paramsSchema}) => [
    `  /** ${oneLine(description)} */`,
    `  readonly ${camel(name)}: (params${paramsSchema.required?.length > 0 ? '' : '?'}: ${pascal(name)}Params, options?: CallOptions) => Promise<Result<${pascal(name)}Data>>;`,
  ]);
  return [
    '// Written by `npm run docs` from the schemas of the tools. Edit those.',
    "import type {Result} from '../core/result.ts';",
    "import type {CallOptions} from '../core/tool-host.ts';",
    '',
    ...types,
    '/** Parameters and data of each tool, by its name. */',
    'export interface ToolTypes {',
    ...entries,
    '}',
    '',
    '/** A method for each tool. It asks for approval and is written to the log, as `call` is. */',
    'export interface ToolMethods {',
    ...methods,
    '}',
    '',
    '/** The tool that each method calls. */',
    'export const TOOL_METHODS = {',
    ...tools.map(({name}) => `  ${camel(name)}: '${name}',`),
    '} as const satisfies {readonly [Method in keyof ToolMethods]: keyof ToolTypes};',
    '',
  ].join('\n');
}

/** `absent` is what an optional property may be beside its type. */
function typeOf(schema, absent) {
  const {type, anyOf, enum: values, const: value, items, properties, additionalProperties} = schema;
  if (value !== undefined) return literal(value);
  if (values !== undefined) return values.map(literal).join(' | ');
  if (anyOf !== undefined) return anyOf.map(one => typeOf(one, absent)).join(' | ');
  if (Array.isArray(type)) return type.map(one => typeOf({...schema, type: one}, absent)).join(' | ');
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${typeOf(items, absent)})[]`;
    case 'object':
      if (properties !== undefined) return objectOf(schema, absent);
      return `{readonly [name: string]: ${typeOf(additionalProperties, absent)}}`;
    default:
      throw new Error(`Say in scripts/render-tool-methods.js which type ${JSON.stringify(schema)} is.`);
  }
}

function objectOf({properties, required = []}, absent) {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const text = [schema.description, defaultOf(schema)].filter(Boolean).join(' ');
    const field = `${name}${required.includes(name) ? '' : '?'}`;
    const type = `${typeOf(schema, absent)}${required.includes(name) ? '' : absent}`;
    return [...(text === '' ? [] : [`/** ${oneLine(text)} */`]), `readonly ${field}: ${type};`];
  });
  return `{${fields.join(' ')}}`;
}

function defaultOf({default: value}) {
  return value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`;
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').replaceAll('*/', '*\\/');
}

function lowerFirst(text) {
  return text[0].toLowerCase() + text.slice(1);
}

function camel(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

function pascal(name) {
  const text = camel(name);
  return text[0].toUpperCase() + text.slice(1);
}
