import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {listEveryTool} from '../scripts/list-every-tool.js';
import type {Json} from '../src/core/result.ts';
import * as surface from '../src/index.ts';
import {createToolbox} from '../src/index.ts';
import {describeTool} from '../src/mcp/describe-tool.ts';
import * as mcp from '../src/mcp.ts';
import {countTokens} from '../src/web/tokens/count-tokens.ts';

const CORE = 'web_fetch list_files glob search read_file str_replace write_file apply_patch run'.split(' ');

/** What clients put before a model. */
async function prices(): Promise<ReadonlyMap<string, number>> {
  const tools = await listEveryTool(createToolbox);
  return new Map(
    tools.map(tool => {
      const {name, description, inputSchema} = describeTool(tool, 'text');
      return [name, countTokens(JSON.stringify({name, description, inputSchema}))];
    }),
  );
}

/** Of a tool that is not named below. A new tool fits into it, or has a shorter description. */
const LIMIT = 200;
/** Tools that have more to say: `search` also answers with names or counts, across lines, and in ignored files. */
const DEARER: Readonly<Record<string, number>> = {search: 260};

test('W18: the definition of a tool costs a model at most 200 tokens, but for those named', async () => {
  const each = await prices();
  expect([...each].filter(([name, tokens]) => tokens > (DEARER[name] ?? LIMIT))).toEqual([]);
  // No exception outlives its reason.
  expect(Object.keys(DEARER).filter(name => (each.get(name) ?? 0) <= LIMIT)).toEqual([]);
});

test('W18: the nine tools of most sessions cost a model at most 1,600 tokens', async () => {
  const each = await prices();
  expect(CORE.every(name => each.has(name))).toBe(true);
  expect(CORE.reduce((total, name) => total + (each.get(name) ?? 0), 0)).toBeLessThanOrEqual(1600);
});

test('W18: what is left out of a definition decides no call', async () => {
  const tools = await listEveryTool(createToolbox);
  for (const tool of tools) {
    const {properties = {}, required} = tool.paramsSchema as {properties?: object; required?: unknown};
    const shown = describeTool(tool, 'text').inputSchema as {properties?: object; required?: unknown};
    expect(Object.keys(shown.properties ?? {})).toEqual(Object.keys(properties));
    expect(shown.required).toEqual(required);
  }
  const fetch = tools.find(({name}) => name === 'web_fetch');
  expect(fetch && describeTool(fetch, 'text').inputSchema).toMatchObject({additionalProperties: false});
});

test('W18: groups are switched off, and an unknown one stops the start', async () => {
  const toolbox = createToolbox({
    workspace: process.cwd(),
    config: {tools: {mode: 'enabled', webfetch: {enabled: true, cache_dir: ''}, groups: ['core']}},
  });
  const names = toolbox.listTools().map(({name}) => name);
  const others =
    'web_fetch web_read verify_quote web_search replace_in_files move_file delete_file undo wait_for stop_run';
  const every = (await listEveryTool(createToolbox)).map(({name}) => name);
  expect(every).toEqual(expect.arrayContaining(others.split(' ')));
  expect(names).toEqual(every.filter(name => !others.split(' ').includes(name)));
  expect(toolbox.listTools().find(({name}) => name === 'run')?.paramsSchema['properties']).not.toHaveProperty(
    'background',
  );
  await toolbox.close();
  expect(() => createToolbox({config: {tools: {groups: ['core', 'webb']}}})).toThrow(
    'tools.groups names "webb", which is no group. The groups are core, web, edit-more, background.',
  );
});

/** Written out, so that a change of what users import is a change of this list. */
test('policy: the values that the package exports', () => {
  expect(Object.keys(surface).sort()).toEqual([
    'ConfigError',
    'FAILURE_CODES',
    'InMemoryFileSystem',
    'InvalidUrlError',
    'anthropicTools',
    'canonicalizeUrl',
    'chunkMarkdown',
    'countTokens',
    'createToolbox',
    'globFiles',
    'htmlToMarkdown',
    'isAllowedByRobots',
    'openaiChatTools',
    'openaiTools',
    'parseRobots',
    'vercelTools',
  ]);
});

test('policy: the values that forge-tools/mcp exports', () => {
  expect(Object.keys(mcp).sort()).toEqual(['CallMetrics', 'createMcpService', 'serveHttp', 'serveStdio']);
});

test('policy: the building blocks do what their names say', () => {
  expect(surface.canonicalizeUrl('HTTPS://Example.COM:443/a/../b?z#f')).toBe('https://example.com/b?z');
  expect(() => surface.canonicalizeUrl('ftp://example.com/')).toThrow(surface.InvalidUrlError);
  const robots = surface.parseRobots('User-agent: *\nDisallow: /private');
  expect(surface.isAllowedByRobots(robots, 'forge-webfetch', '/private/x')).toBe(false);
  expect(surface.isAllowedByRobots(robots, 'forge-webfetch', '/public')).toBe(true);
  expect(surface.countTokens('hello world')).toBe(2);
  expect(surface.htmlToMarkdown('<h1>A</h1><p><a href="/b">c</a>', 'https://e.com/')).toBe(
    '# A\n\n[c](https://e.com/b)\n',
  );
  expect(surface.chunkMarkdown('# A\n\ntext', 100)).toEqual([
    {heading: 'A', text: '# A\n\ntext', token_count: surface.countTokens('# A\n\ntext')},
  ]);
});

test('policy: the package ships what it needs and says which Node it runs on', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(manifest).toMatchObject({type: 'module', engines: {node: '^20.19 || >=22.12'}, license: 'MIT'});
  expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'vocabulary', 'demo']));
  // No package of ours downloads a binary when it is installed.
  expect(manifest.scripts).not.toHaveProperty('postinstall');
});

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
