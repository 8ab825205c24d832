import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {createToolbox} from '../../create-toolbox.ts';
import {checkRequest} from './check-request.ts';

const FORM = 'Call it with {tool: "read_file", params: {path: "a.txt"}, request_id: "1"}. Nothing was run.';

describe('NFR-WF-REL-02: a request of another form', () => {
  test.each([
    ['read_file', 'request', 'must be an object, got a value of type string'],
    [undefined, 'request', 'must be an object, got undefined'],
    [null, 'request', 'must be an object, got null'],
    [[], 'request', 'must be an object, got an array'],
    [{}, 'tool', 'must be the name of a tool, got undefined'],
    [{tool: 7}, 'tool', 'must be the name of a tool, got a value of type number'],
    [{tool: 'echo', request_id: null}, 'request_id', 'must be a string, got null'],
  ])('%j', (given, field, reason) => {
    expect(checkRequest(given).problem).toMatchObject({
      error: {
        code: 'invalid_params',
        message: `The call's ${field} ${reason}. ${FORM}`,
        details: {field, reason},
      },
    });
  });

  test('what can be read of it is in the answer', () => {
    const {request} = checkRequest({tool: 7, params: 'x', request_id: 'r'});
    expect(request).toEqual({tool: '', params: {}, request_id: 'r'});
    expect(checkRequest({tool: 'echo', params: {a: 1}, request_id: 7}).request).toEqual({
      tool: 'echo',
      params: {a: 1},
      request_id: '',
    });
  });

  test('params and the id may be left out', () => {
    expect(checkRequest({tool: 'echo'})).toEqual({
      request: {tool: 'echo', params: {}, request_id: ''},
      problem: undefined,
    });
  });
});

test('NFR-WF-REL-02: a toolbox answers a request of another form, and runs nothing', async () => {
  const toolbox = createToolbox({config: {}, runDirectory: `${temporaryDirectory()}/run`});
  onTestFinished(() => toolbox.close());
  const result = await toolbox.call('read_file' as never);
  expect(result).toMatchObject({status: 'error', tool: '', error: {error_type: 'invalid_params'}});
});
