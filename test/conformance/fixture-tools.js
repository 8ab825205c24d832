import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
} from '@modelcontextprotocol/server';

/** One red pixel, and a WAV header with one sample. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const NAME_FORM = elicitation('What is your name?', {name: {type: 'string'}});
const OK_FORM = elicitation('Please confirm', {ok: {type: 'boolean'}});
const sampling = text => ({
  messages: [{role: 'user', content: {type: 'text', text}}],
  maxTokens: 100,
});

const text = value => ({type: 'text', text: value});
const image = {type: 'image', data: PIXEL, mimeType: 'image/png'};
const resource = (uri, mimeType, value) => ({type: 'resource', resource: {uri, mimeType, text: value}});
const say = value => ({content: [text(value)]});
const pause = () => new Promise(resolve => setTimeout(resolve, 50));

/** The tools that the conformance suite calls by name: `(arguments, request context, sign) => result`. */
export const FIXTURE_TOOLS = {
  test_simple_text: () => say('This is a simple text response for testing.'),
  test_image_content: () => ({content: [image]}),
  test_audio_content: () => ({content: [{type: 'audio', data: SOUND, mimeType: 'audio/wav'}]}),
  test_embedded_resource: () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({
    ...say('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  test_tool_with_logging: async (_args, {mcpReq}) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', line);
      await pause();
    }
    return say('Logged.');
  },
  test_logging_tool: async (_args, {mcpReq}) => {
    await mcpReq.log('info', 'Heard only by those who set a log level.');
    return say('Logged.');
  },
  test_tool_with_progress: async (_args, {mcpReq}) => {
    const {progressToken} = mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) break;
      await mcpReq.notify({method: 'notifications/progress', params: {progressToken, progress, total: 100}});
      await pause();
    }
    return say('Done.');
  },

  test_sampling: async ({prompt}, {mcpReq}) => {
    const answer = await mcpReq.send({method: 'sampling/createMessage', params: sampling(prompt)});
    return say(`LLM response: ${answer.content.text}`);
  },
  test_elicitation: async ({message}, context) =>
    elicited(
      'User response',
      context,
      message,
      {response: {type: 'string', description: "User's response"}},
      ['response'],
    ),
  test_elicitation_sep1034_defaults: (_args, context) =>
    elicited('Elicitation completed', context, 'Please review the defaults', {
      name: {type: 'string', default: 'John Doe'},
      age: {type: 'integer', default: 30},
      score: {type: 'number', default: 95.5},
      status: {type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active'},
      verified: {type: 'boolean', default: true},
    }),
  test_elicitation_sep1330_enums: (_args, context) => {
    const options = ['option1', 'option2', 'option3'];
    const titled = kind =>
      ['First', 'Second', 'Third'].map((nth, index) => ({
        const: `value${index + 1}`,
        title: `${nth} ${kind}`,
      }));
    return elicited('Elicitation completed', context, 'Please choose', {
      untitledSingle: {type: 'string', enum: options},
      titledSingle: {type: 'string', oneOf: titled('Option')},
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: {type: 'array', items: {type: 'string', enum: options}},
      titledMulti: {type: 'array', items: {anyOf: titled('Choice')}},
    });
  },

  test_missing_capability: (_args, {mcpReq}) => {
    if (capabilitiesOf(mcpReq).sampling === undefined) {
      throw new MissingRequiredClientCapabilityError({requiredCapabilities: {sampling: {}}});
    }
    return say('The client can sample.');
  },
  test_streaming_elicitation: () => inputRequired({inputRequests: {user_name: NAME_FORM}}),
  test_input_required_result_elicitation: (_args, {mcpReq}) => {
    const name = accepted(mcpReq, 'user_name')?.name;
    return typeof name === 'string'
      ? say(`Hello, ${name}!`)
      : inputRequired({inputRequests: {user_name: NAME_FORM}});
  },
  test_input_required_result_sampling: (_args, {mcpReq}) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question');
    const question = inputRequired.createMessage(sampling('What is the capital of France?'));
    return answer.kind === 'sampling'
      ? say(answer.result.content.text)
      : inputRequired({inputRequests: {capital_question: question}});
  },
  test_input_required_result_list_roots: (_args, {mcpReq}) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots');
    return answer.kind === 'roots'
      ? say(answer.roots.map(({uri}) => uri).join(' '))
      : inputRequired({inputRequests: {client_roots: inputRequired.listRoots()}});
  },
  test_input_required_result_request_state: confirmed('state-ok'),
  test_input_required_result_tampered_state: confirmed('state-ok'),
  test_input_required_result_multiple_inputs: async (_args, {mcpReq}, sign) =>
    mcpReq.requestState()?.round === 1 && Object.keys(mcpReq.inputResponses ?? {}).length === 3
      ? say('All three answers are here.')
      : inputRequired({
          inputRequests: {
            user_name: NAME_FORM,
            greeting: inputRequired.createMessage(sampling('Generate a greeting')),
            client_roots: inputRequired.listRoots(),
          },
          requestState: await sign({round: 1}),
        }),
  test_input_required_result_multi_round: async (_args, {mcpReq}, sign) => {
    const round = mcpReq.requestState()?.round ?? 0;
    if (round === 2 && accepted(mcpReq, 'step2') !== undefined) return say('Both steps are done.');
    if (round === 1 && accepted(mcpReq, 'step1') !== undefined) {
      const step2 = elicitation('Step 2: What is your favorite color?', {color: {type: 'string'}});
      return inputRequired({inputRequests: {step2}, requestState: await sign({round: 2})});
    }
    return inputRequired({inputRequests: {step1: NAME_FORM}, requestState: await sign({round: 1})});
  },
  test_input_required_result_capabilities: (_args, {mcpReq}) => {
    const {elicitation: forms, sampling: models} = capabilitiesOf(mcpReq);
    return inputRequired({
      inputRequests: {
        ...(forms === undefined ? {} : {user_name: NAME_FORM}),
        ...(models === undefined ? {} : {greeting: inputRequired.createMessage(sampling('Greet'))}),
      },
    });
  },
};

export function elicitation(message, properties) {
  return inputRequired.elicit({
    message,
    requestedSchema: {type: 'object', properties, required: Object.keys(properties)},
  });
}

/** The content of an accepted form, if the client sent one under that key. */
export function accepted({inputResponses}, key) {
  const answer = inputResponse(inputResponses, key);
  return answer.kind === 'elicit' && answer.action === 'accept' ? (answer.content ?? {}) : undefined;
}

function confirmed(word) {
  return async (_args, {mcpReq}, sign) =>
    mcpReq.requestState()?.word === word && accepted(mcpReq, 'confirm') !== undefined
      ? say(word)
      : inputRequired({inputRequests: {confirm: OK_FORM}, requestState: await sign({word})});
}

function capabilitiesOf({envelope}) {
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
}

/** Older revisions: the server asks while the call waits. */
async function elicited(label, {mcpReq}, message, properties, required = []) {
  const params = {message, requestedSchema: {type: 'object', properties, required}};
  const {action, content = {}} = await mcpReq.send({method: 'elicitation/create', params});
  return say(`${label}: action=${action}, content=${JSON.stringify(content)}`);
}
