import {describe, expect, test} from 'vitest';
import {echoTool, toolOf} from '../../test/support/open-test-runtime.ts';
import {createRegistry, type RegistryOptions} from './registry.ts';

const fetchTool = toolOf('web_fetch', async () => null, {action: 'web_fetch'});
const OFF = new Map([['web_fetch', {setting: 'tools.webfetch.enabled', why: 'is false'}]]);

function registryOf(options: Partial<RegistryOptions>) {
  return createRegistry({
    mode: 'enabled',
    tools: [echoTool, fetchTool],
    switchedOff: new Map(),
    definitions: [],
    ...options,
  });
}

function names(options: Partial<RegistryOptions>): readonly string[] {
  return registryOf(options).advertised.map(({name}) => name);
}

describe('SRD 5.2', () => {
  test('FR-WF-CFG-PREC-01 tools.mode=disabled disables web_fetch whatever its own setting says', () => {
    expect(names({mode: 'disabled'})).toEqual([]);
    expect(registryOf({mode: 'disabled'}).find('web_fetch')).toMatchObject({
      ok: false,
      error: {code: 'tool_disabled', details: {tool: 'web_fetch', setting: 'tools.mode'}},
    });
  });

  test('FR-WF-CFG-PREC-02 tools.mode=enabled registers what its own setting enables', () => {
    expect(names({})).toEqual(['echo', 'web_fetch']);
    expect(registryOf({}).find('web_fetch')).toEqual({ok: true, value: fetchTool});
    expect(names({switchedOff: OFF})).toEqual(['echo']);
    expect(registryOf({switchedOff: OFF}).find('web_fetch')).toMatchObject({
      ok: false,
      error: {code: 'tool_disabled', details: {setting: 'tools.webfetch.enabled'}},
    });
  });

  test('FR-WF-CFG-PREC-03 parse_only advertises [[tools.definitions]] only, and executes nothing', () => {
    const definitions = [
      {name: 'web_fetch', description: '', parameters: {}},
      {name: 'theirs', description: 'Their tool.', parameters: {type: 'object', title: 'x'}},
      {name: 'bare', description: '', parameters: {}},
    ];
    const registry = registryOf({mode: 'parse_only', definitions, switchedOff: OFF});
    expect(registry.advertised).toEqual([
      {name: 'web_fetch', description: 'web_fetch', paramsSchema: fetchTool.paramsSchema},
      {name: 'theirs', description: 'Their tool.', paramsSchema: {type: 'object', title: 'x'}},
      {name: 'bare', description: '', paramsSchema: {type: 'object'}},
    ]);
    expect(names({mode: 'parse_only'})).toEqual([]);
    for (const name of ['web_fetch', 'theirs', 'echo']) {
      expect(registry.find(name)).toMatchObject({
        ok: false,
        error: {code: 'tool_disabled', details: {setting: 'tools.mode'}},
      });
    }
    expect(registry.find('other')).toMatchObject({ok: false, error: {code: 'unknown_tool'}});
  });
});

test('policy: an unknown tool comes with the nearest one', () => {
  const find = (name: string) => {
    const found = registryOf({}).find(name);
    return found.ok ? undefined : found.error;
  };
  expect(find('webfetch')).toMatchObject({
    code: 'unknown_tool',
    message: 'There is no tool "webfetch". Did you mean "web_fetch"? The tools are echo, web_fetch.',
    details: {tool: 'webfetch', available: ['echo', 'web_fetch'], did_you_mean: 'web_fetch'},
  });
  expect(find('WEB-FETCH')?.details['did_you_mean']).toBe('web_fetch');
  expect(find('zzz')?.details).toEqual({tool: 'zzz', available: ['echo', 'web_fetch']});
  expect(find('x'.repeat(100_000))?.message.length).toBeLessThan(200);
  for (const name of ['__proto__', 'constructor', '']) expect(find(name)?.code).toBe('unknown_tool');
});

test('policy: a name that is taken or no name is a bug', () => {
  expect(() => registryOf({tools: [echoTool, echoTool]})).toThrow('same name');
  expect(() => registryOf({tools: [toolOf('Bad-Name', async () => null)]})).toThrow('snake_case');
});

describe('SRD 5.2: a tool that is not there', () => {
  const messageOf = (options: Partial<RegistryOptions>, name = 'zzz') => {
    const registry = createRegistry({
      mode: 'enabled',
      tools: [echoTool],
      switchedOff: new Map(),
      definitions: [],
      ...options,
    });
    const found = registry.find(name);
    return found.ok ? '' : found.error.message;
  };

  test.each<[string, Partial<RegistryOptions>, string, string]>([
    ['the tools that there are', {}, 'zzz', 'There is no tool "zzz". The tools are echo.'],
    ['that there is none', {tools: []}, 'zzz', 'There is no tool "zzz". No tool is enabled.'],
    [
      'why there is none',
      {mode: 'disabled'},
      'zzz',
      'There is no tool "zzz". No tool is enabled: tools.mode is "disabled".',
    ],
    [
      'one that is switched off',
      {switchedOff: new Map([['echo', {setting: 'tools.echo.enabled', why: 'is false'}]])},
      'echo',
      'echo is not executed: tools.echo.enabled is false. Have the operator change that setting.',
    ],
    [
      'the mode before the setting',
      {mode: 'disabled', switchedOff: new Map([['echo', {setting: 'x', why: 'is false'}]])},
      'echo',
      'echo is not executed: tools.mode is "disabled". Have the operator change that setting.',
    ],
    [
      'one that is only written',
      {mode: 'parse_only', definitions: [{name: 'theirs', description: '', parameters: {}}]},
      'theirs',
      'theirs is not executed: tools.mode is "parse_only". Have the operator change that setting.',
    ],
    ['a long name', {}, 'z'.repeat(65), `There is no tool "${'z'.repeat(64)}". The tools are echo.`],
  ])('%s', (_, options, name, message) => {
    expect(messageOf(options, name)).toBe(message);
  });

  test('a name has 64 characters at most, lower case, and begins with a letter', () => {
    const named = (name: string) => () => messageOf({tools: [toolOf(name, async () => 1)]});
    expect(named(`a${'_'.repeat(63)}`)).not.toThrow();
    for (const name of [`a${'_'.repeat(64)}`, '', 'A', '1a', '_a', 'a-b', ' a', 'a '])
      expect(named(name)).toThrow(`Expected a tool name in snake_case, got "${name}".`);
    expect(() => messageOf({tools: [echoTool, echoTool]})).toThrow('Two tools have the same name.');
  });
});
