import {randomBytes} from 'node:crypto';
import {
  createRequestStateCodec,
  inputRequired,
  ProtocolError,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import {systemClock} from '../../dist/core/clock.js';
import {serveTasks, TASKS_EXTENSION, TaskStore} from '../../dist/mcp/tasks.js';
import {accepted, elicitation, FIXTURE_TOOLS, PIXEL} from './fixture-tools.js';
import {TASK_TOOLS} from './task-tools.js';

const user = content => ({role: 'user', content});
const text = value => ({type: 'text', text: value});
const argument = name => ({name, description: `Argument ${name}.`, required: true});

/** What the suite checks in a tool list: keywords of JSON Schema 2020-12 that must survive. */
const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: {street: {type: 'string'}, city: {type: 'string'}},
    },
  },
  properties: {
    name: {type: 'string'},
    address: {$ref: '#/$defs/address'},
    contactMethod: {type: 'string', enum: ['phone', 'email']},
    phone: {type: 'string'},
    email: {type: 'string'},
  },
  allOf: [{anyOf: [{required: ['phone']}, {required: ['email']}]}],
  if: {properties: {contactMethod: {const: 'phone'}}, required: ['contactMethod']},
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {required: ['phone']},
  else: {required: ['email']},
  additionalProperties: false,
};

const RESOURCES = {
  'test://static-text': {mimeType: 'text/plain', text: 'This is the content of the static text resource.'},
  'test://static-binary': {mimeType: 'image/png', blob: PIXEL},
  'test://watched-resource': {mimeType: 'text/plain', text: 'Watched resource content'},
};

const PROMPTS = {
  test_simple_prompt: {
    messages: () => [user(text('This is a simple prompt for testing.'))],
  },
  test_prompt_with_arguments: {
    arguments: [argument('arg1'), argument('arg2')],
    messages: ({arg1, arg2}) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: [argument('resourceUri')],
    messages: ({resourceUri: uri}) => [
      user({
        type: 'resource',
        resource: {uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.'},
      }),
      user(text('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: {
    messages: () => [
      user({type: 'image', data: PIXEL, mimeType: 'image/png'}),
      user(text('Please analyze the image above.')),
    ],
  },
  test_input_required_result_prompt: {
    messages: (_args, {mcpReq}) => {
      const answer = accepted(mcpReq, 'user_context');
      return answer === undefined ? undefined : [user(text(`Context: ${answer.context}`))];
    },
  },
};

/** The server of the conformance suite, to be served by the transports of the product. Development only. */
export function createFixtureService() {
  const codec = createRequestStateCodec({key: randomBytes(32)});
  const sign = state => codec.mint(state);
  const tasks = new TaskStore(systemClock);
  return {createServer, settled: async () => {}};

  function createServer({era}) {
    const server = new Server(
      {name: 'forge-tools-conformance', version: '1.0.0'},
      {
        capabilities: {
          tools: {},
          resources: {subscribe: true},
          prompts: {},
          logging: {},
          completions: {},
          ...(era === 'modern' ? {extensions: {[TASKS_EXTENSION]: {}}} : {}),
        },
        requestState: {verify: codec.verify},
      },
    );
    const on = (method, handler) => server.setRequestHandler(method, handler);

    on('tools/list', () => ({
      tools: [
        ...[...Object.keys(FIXTURE_TOOLS), ...Object.keys(TASK_TOOLS)].map(name => ({
          name,
          description: `Conformance fixture ${name}.`,
          inputSchema: {type: 'object'},
        })),
        {
          name: 'json_schema_2020_12_tool',
          description: 'Tool with JSON Schema 2020-12 features',
          inputSchema: SCHEMA_2020_12,
        },
      ],
    }));
    on('tools/call', ({params}, context) => {
      const task = TASK_TOOLS[params.name];
      if (task !== undefined) return task(params.arguments ?? {}, context, tasks);
      const tool = FIXTURE_TOOLS[params.name];
      if (tool === undefined) throw new ProtocolError(-32_602, `Unknown tool ${params.name}.`);
      return tool(params.arguments ?? {}, context, sign);
    });

    if (era === 'modern') serveTasks(server, tasks);

    on('resources/list', () => ({
      resources: Object.entries(RESOURCES).map(([uri, {mimeType}]) => ({
        uri,
        name: uri,
        description: `Fixture ${uri}.`,
        mimeType,
      })),
    }));
    on('resources/templates/list', () => ({
      resourceTemplates: [
        {
          uriTemplate: 'test://template/{id}/data',
          name: 'Template',
          description: 'Fixture.',
          mimeType: 'application/json',
        },
      ],
    }));
    on('resources/read', ({params: {uri}}) => {
      const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
      const data = {id, templateTest: true, data: `Data for ID: ${id}`};
      const found =
        id === undefined ? RESOURCES[uri] : {mimeType: 'application/json', text: JSON.stringify(data)};
      if (found === undefined) throw new ResourceNotFoundError(uri);
      return {contents: [{uri, ...found}]};
    });
    on('resources/subscribe', () => ({}));
    on('resources/unsubscribe', () => ({}));

    on('prompts/list', () => ({
      prompts: Object.entries(PROMPTS).map(([name, prompt]) => ({
        name,
        description: `Fixture ${name}.`,
        arguments: prompt.arguments ?? [],
      })),
    }));
    on('prompts/get', ({params}, context) => {
      const prompt = PROMPTS[params.name];
      if (prompt === undefined) throw new ProtocolError(-32_602, `Unknown prompt ${params.name}.`);
      const messages = prompt.messages(params.arguments ?? {}, context);
      if (messages !== undefined) return {messages};
      const user_context = elicitation('What context should the prompt use?', {context: {type: 'string'}});
      return inputRequired({inputRequests: {user_context}});
    });
    on('completion/complete', () => ({
      completion: {values: ['paris', 'park', 'party'], total: 3, hasMore: false},
    }));
    return server;
  }
}
