import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import type {Json} from '../src/core/json.ts';
import {createToolbox} from '../src/index.ts';

interface Field {
  readonly type: string | readonly string[];
  readonly required: boolean;
  readonly enum?: readonly string[];
}

type Fields = {readonly [path: string]: Field};

type JsonSchema = {readonly [keyword: string]: Json};

/** Frozen: what a caller of 0.1 wrote and read. It is not to be made anew. */
const FROZEN = JSON.parse(
  readFileSync(new URL('fixtures/tools-at-0.1.json', import.meta.url), 'utf8'),
) as Record<string, {readonly params: Fields; readonly data: Fields}>;

test('policy: every parameter and field of the tools of 0.1 is still there: additions only', async () => {
  const tools = new Map((await listEveryTool(createToolbox)).map(tool => [tool.name, tool]));
  const problems: string[] = [];
  for (const [name, frozen] of Object.entries(FROZEN)) {
    const tool = tools.get(name);
    if (tool === undefined) {
      problems.push(`${name} is gone`);
      continue;
    }
    const params = fieldsOf(tool.paramsSchema);
    const data = fieldsOf(tool.dataSchema);
    problems.push(
      ...changes(`${name} param`, frozen.params, params),
      ...changes(`${name} data`, frozen.data, data),
    );
    for (const [path, {required}] of Object.entries(params)) {
      // A caller of 0.1 leaves it out.
      if (required && frozen.params[path]?.required !== true && !path.includes('.'))
        problems.push(`${name} param ${path} has to be given now`);
    }
    for (const [path, {required}] of Object.entries(frozen.data)) {
      if (required && data[path]?.required === false)
        problems.push(`${name} data ${path} may be missing now`);
    }
  }
  expect(problems).toEqual([]);
});

function changes(what: string, frozen: Fields, now: Fields): readonly string[] {
  return Object.entries(frozen).flatMap(([path, {type, enum: values = []}]) => {
    const field = now[path];
    if (field === undefined) return [`${what} ${path} is gone`];
    const gone = field.enum === undefined ? [] : values.filter(value => !field.enum?.includes(value));
    const missing = [type].flat().filter(one => ![field.type].flat().includes(one));
    return [
      ...missing.map(one => `${what} ${path} is no ${one} any more`),
      ...gone.map(value => `${what} ${path} knows ${value} no more`),
    ];
  });
}

/** Paths into a schema, such as `matches[].line`. */
function fieldsOf(schema: JsonSchema, prefix = ''): Record<string, Field> {
  const {properties = {}, required = []} = schema as {
    readonly properties?: {readonly [name: string]: JsonSchema};
    readonly required?: readonly string[];
  };
  const fields: Record<string, Field> = {};
  for (const [name, of] of Object.entries(properties)) {
    const path = `${prefix}${name}`;
    const {enum: values, items} = of as {readonly enum?: readonly string[]; readonly items?: JsonSchema};
    fields[path] = {
      type: typeOf(of),
      required: required.includes(name),
      ...(values === undefined ? {} : {enum: values}),
    };
    Object.assign(fields, fieldsOf(of, `${path}.`), items === undefined ? {} : fieldsOf(items, `${path}[].`));
  }
  return fields;
}

function typeOf({type, anyOf, enum: values}: JsonSchema): Field['type'] {
  if (type !== undefined) return type as Field['type'];
  if (Array.isArray(anyOf)) return anyOf.map(one => (one as {readonly type: string}).type);
  return values === undefined ? 'any' : 'string';
}
