// biome-ignore-all lint/suspicious/noTemplateCurlyInString: paths are written like this
import fc from 'fast-check';
import {parse} from 'smol-toml';
import {describe, expect, test} from 'vitest';
import {resolveConfig} from './resolve-config.ts';

const SURROUNDINGS = {env: {HOME: '/home/u', TEMP: '/var/temp'}, cwd: '/srv/app', tempDir: '/tmp'};

function resolveToml(toml: string, surroundings = SURROUNDINGS) {
  return resolveConfig(parse(toml, {integersAsBigInt: true}), surroundings);
}

function resolved(toml: string, surroundings = SURROUNDINGS) {
  const result = resolveToml(toml, surroundings);
  if (!result.ok) throw new Error(result.error.join('\n'));
  return result.value;
}

function problems(toml: string): readonly string[] {
  const result = resolveToml(toml);
  return result.ok ? [] : result.error;
}

describe('defaults', () => {
  test('FR-WF-CFG-01 SRD 5.3 the defaults are those of the reference', () => {
    const {config, warnings} = resolved('profile = "none"');
    expect(warnings).toEqual([]);
    expect(config.tools.webfetch).toMatchObject({
      enabled: false,
      user_agent: 'forge-webfetch/1.0',
      timeout_seconds: 20,
      max_redirects: 5,
      default_max_chunk_tokens: 600,
      cache_dir: '/var/temp/forge-webfetch',
      cache_ttl_days: 7,
      max_cache_entries: 10000,
      max_cache_bytes: 1073741824,
      max_download_bytes: 5242880,
      robots_cache_entries: 1024,
      robots_cache_ttl_hours: 24,
      allow_auto_execution: false,
      http: {use_system_proxy: false},
      robots: {fail_open: false, max_robots_bytes: 524288},
      browser: {
        enabled: true,
        chromium_path: '',
        max_total_subresource_bytes: 20971520,
        network_idle_ms: 20000,
        max_rendered_dom_bytes: 5242880,
        block_resources: ['image', 'font', 'media'],
      },
      security: {
        block_private_ips: true,
        block_loopback: true,
        block_link_local: true,
        block_reserved: true,
        allowed_ports: [80, 443],
        additional_blocked_cidrs: [],
        max_dns_attempts: 2,
        allow_insecure_overrides: false,
      },
      rendering: {js_heavy_domains: [], spa_fallback_enabled: true, min_extracted_chars: 400},
    });
  });

  test('ruling E7 tools.output.max_bytes is 102400', () => {
    expect(resolved('').config.tools.output.max_bytes).toBe(102_400);
  });

  test('FR-WF-CFG-PREC-01 ruling A9: without a profile an absent tools.mode means disabled', () => {
    expect(resolved('profile = "none"').config.tools.mode).toBe('disabled');
    expect(resolved('profile = "none"\n[tools.webfetch]\nenabled = true').config.tools.mode).toBe('disabled');
    for (const mode of ['enabled', 'disabled', 'parse_only']) {
      expect(resolved(`[tools]\nmode = "${mode}"`).config.tools.mode).toBe(mode);
    }
  });

  test('policy: no file is the same as an empty file', () => {
    expect(resolveConfig(undefined, SURROUNDINGS)).toEqual(resolveToml(''));
  });

  test('policy: the result is frozen all the way down, and shares nothing with the schema', () => {
    const pending: unknown[] = [resolved('').config];
    for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
      if (typeof value !== 'object' || value === null) continue;
      expect(Object.isFrozen(value)).toBe(true);
      pending.push(...Object.values(value));
    }
    const [first, second] = [resolved(''), resolved('')];
    expect(first.config.tools.webfetch.security.allowed_ports).not.toBe(
      second.config.tools.webfetch.security.allowed_ports,
    );
  });
});

describe('numbers', () => {
  test.each([
    ['tools.webfetch', 'timeout_seconds', 1, 300],
    ['tools.webfetch', 'max_redirects', 0, 20],
    ['tools.webfetch', 'default_max_chunk_tokens', 128, 2048],
    ['tools.webfetch', 'cache_ttl_days', 1, 365],
    ['tools.webfetch', 'max_cache_entries', 0, 1000000],
    ['tools.webfetch', 'max_cache_bytes', 1048576, 1099511627776],
    ['tools.webfetch', 'max_download_bytes', 1024, 104857600],
    ['tools.webfetch', 'robots_cache_entries', 0, 100000],
    ['tools.webfetch', 'robots_cache_ttl_hours', 1, 720],
    ['tools.webfetch.security', 'max_dns_attempts', 1, 10],
    ['tools.webfetch.browser', 'network_idle_ms', 1000, 120000],
    ['tools.webfetch.browser', 'max_rendered_dom_bytes', 1024, 104857600],
    ['tools.webfetch.browser', 'max_total_subresource_bytes', 1048576, 524288000],
    ['tools.webfetch.rendering', 'min_extracted_chars', 0, 10000],
    ['tools.output', 'max_bytes', 1024, 104857600],
  ])('SRD 5.4 %s.%s is clamped to %d-%d with one warning', (section, key, min, max) => {
    const read = (written: string) => {
      const {config, warnings} = resolved(`[${section}]\n${key} = ${written}`);
      const value = section.split('.').reduce<unknown>((table, name) => Object(table)[name], config);
      return {value: Object(value)[key] as unknown, warnings};
    };
    expect(read(`${min}`)).toEqual({value: min, warnings: []});
    expect(read(`${max}`)).toEqual({value: max, warnings: []});
    expect(read(`${min - 1}`)).toEqual({
      value: min,
      warnings: [`${section}.${key} = ${min - 1} is outside ${min}-${max}; ${min} is used.`],
    });
    expect(read(`${max + 1}`)).toEqual({
      value: max,
      warnings: [`${section}.${key} = ${max + 1} is outside ${min}-${max}; ${max} is used.`],
    });
  });

  test('SRD 5.4 an integer beyond 2^53 is clamped, and named exactly', () => {
    const {config, warnings} = resolved('[tools.webfetch]\nmax_cache_bytes = 1152921504606846977');
    expect(config.tools.webfetch.max_cache_bytes).toBe(1099511627776);
    expect(warnings[0]).toContain('max_cache_bytes = 1152921504606846977 is outside');
  });

  test('policy: a float without fraction is an integer, any other is the wrong type', () => {
    expect(resolved('[tools.webfetch]\ntimeout_seconds = 25.0').config.tools.webfetch.timeout_seconds).toBe(
      25,
    );
    expect(
      Object.is(resolved('[tools.webfetch]\nmax_redirects = -0.0').config.tools.webfetch.max_redirects, 0),
    ).toBe(true);
    for (const [written, got] of [
      ['20.5', 'the number 20.5'],
      ['nan', 'the number NaN'],
      ['inf', 'the number Infinity'],
      ['"20"', 'the string "20"'],
      ['true', 'the boolean true'],
      ['[20]', 'an array'],
      ['{}', 'a table'],
      ['2026-01-10', 'a date'],
    ]) {
      expect(problems(`[tools.webfetch]\ntimeout_seconds = ${written}`)).toEqual([
        `Expected tools.webfetch.timeout_seconds to be an integer in 1-300, got ${got}.`,
      ]);
    }
  });

  test('policy: an object of a program works as a file does', () => {
    const result = resolveConfig(
      {profile: 'none', tools: {webfetch: {timeout_seconds: 30, cache_dir: undefined}}},
      SURROUNDINGS,
    );
    expect(result.ok && result.value.config.tools.webfetch.timeout_seconds).toBe(30);
    expect(result.ok && result.value.config.tools.webfetch.cache_dir).toBe('/var/temp/forge-webfetch');
    expect(result.ok && result.value.warnings).toEqual([]);
  });

  test('policy: what an object inherits is not configuration', () => {
    const result = resolveConfig(Object.create({profile: 'none', tools: {mode: 'disabled'}}), SURROUNDINGS);
    expect(result.ok && result.value.config.tools.mode).toBe('enabled');
  });
});

describe('ruling A9: wrong types stop start-up', () => {
  test.each(
    // biome-ignore format: a case is a line
    [
      ['tools = 3', 'Expected tools to be a table, got the integer 3.'],
      ['[tools]\nwebfetch = []', 'Expected tools.webfetch to be a table, got an array.'],
      ['[[tools]]', 'Expected tools to be a table, got an array.'],
      ['[tools]\nmode = "on"', 'Expected tools.mode to be "enabled" or "disabled" or "parse_only", got the string "on".'],
      ['[tools]\nmode = true', 'Expected tools.mode to be "enabled" or "disabled" or "parse_only", got the boolean true.'],
      ['[tools.webfetch]\nenabled = "true"', 'Expected tools.webfetch.enabled to be true or false, got the string "true".'],
      ['[tools.webfetch]\nuser_agent = 7', 'Expected tools.webfetch.user_agent to be a string without control characters, got the integer 7.'],
      ['[tools.webfetch]\nuser_agent = "a\\r\\nX-Evil: b"', 'Expected tools.webfetch.user_agent to be a string without control characters, got the string "a\\r\\nX-Evil: b".'],
      ['[tools.webfetch.security]\nallowed_ports = 80', 'Expected tools.webfetch.security.allowed_ports to be an array of integers, got the integer 80.'],
      ['[tools.webfetch.security]\nallowed_ports = [80, "443"]', 'Expected tools.webfetch.security.allowed_ports[1] to be an integer, got the string "443".'],
      ['[tools.webfetch.browser]\nblock_resources = ["image", 1.5]', 'Expected tools.webfetch.browser.block_resources[1] to be a string without control characters, got the number 1.5.'],
    ],
  )('%j', (toml, problem) => {
    expect(problems(toml)).toEqual([problem]);
  });

  test('policy: every problem is reported at once, in the order of the schema', () => {
    expect(problems('[tools]\nwebfetch = 1\nmode = 2').map(problem => problem.split(' ')[1])).toEqual([
      'tools.mode',
      'tools.webfetch',
    ]);
  });

  test('policy: a long value is cut in the message', () => {
    const [problem = ''] = problems(`[tools]\nmode = "${'x'.repeat(10_000)}"`);
    expect(problem.length).toBeLessThan(200);
  });

  test.each([[null], [[]], ['text'], [7]])('policy: %j is no configuration', raw => {
    expect(resolveConfig(raw, SURROUNDINGS)).toMatchObject({ok: false});
  });

  test('ruling A9: the range of an allowed port is not checked here', () => {
    const {config, warnings} = resolved('[tools.webfetch.security]\nallowed_ports = [0, 65536, 8080.0]');
    expect(config.tools.webfetch.security.allowed_ports).toEqual([0, 65536, 8080]);
    expect(warnings).toEqual([]);
  });
});

describe('ruling A9: unknown keys', () => {
  test.each(
    // biome-ignore format: a case is a line
    [
      ['[tools.webfetch]\ntimeout_second = 1', 'tools.webfetch.timeout_second', 'tools.webfetch.timeout_seconds'],
      ['[tools.webfetch]\nmaxredirects = 1', 'tools.webfetch.maxredirects', 'tools.webfetch.max_redirects'],
      ['[tools.webfetch]\nblock_loopback = true', 'tools.webfetch.block_loopback', 'tools.webfetch.security.block_loopback'],
      ['[tools.web_fetch]\nenabled = true', 'tools.web_fetch', 'tools.webfetch'],
      ['[webfetch]\nenabled = true', 'webfetch', 'tools.webfetch'],
      ['[tools.webfetch]\nenable = true', 'tools.webfetch.enable', 'tools.webfetch.enabled'],
      ['[tools.webfetch]\n"htt p" = 1', 'tools.webfetch."htt p"', 'tools.webfetch.http'],
      ['[tools]\n__proto__ = 1', 'tools.__proto__', 'tools.approval'],
      ['[tools]\nconstructor = 1', 'tools.constructor', 'tools.output'],
    ],
  )('%j names the nearest known key', (toml, key, nearest) => {
    expect(resolved(toml).warnings).toEqual([
      `${key} is not a known key and is ignored. The nearest known key is ${nearest}.`,
    ]);
  });

  test('policy: what it holds is not looked at', () => {
    const {config, warnings} = resolved('[tools.webfetcher]\nenabled = 1\n[tools.webfetcher.http]\nx = 1');
    expect(warnings).toHaveLength(1);
    expect(config).toEqual(resolved('').config);
  });
});

describe('arrays of tables', () => {
  const RULE = '[[tools.approval.rules]]\ntool = "run"\ndecision = "deny"\n';
  const EMPTY = {
    host: '',
    path: '',
    command_prefix: '',
    match: [],
    not_match: [],
    reason: '',
    tainted: false,
  };

  test('policy: every table has every key, in the order of the file, frozen', () => {
    const {config, warnings} = resolved(`${RULE}path = "a/**"\n${RULE}match = ["x"]`);
    expect(config.tools.approval.rules).toEqual([
      {...EMPTY, tool: 'run', decision: 'deny', path: 'a/**'},
      {...EMPTY, tool: 'run', decision: 'deny', match: ['x']},
    ]);
    expect(warnings).toEqual([]);
    expect(Object.isFrozen(config.tools.approval.rules)).toBe(true);
    expect(Object.isFrozen(config.tools.approval.rules[1])).toBe(true);
  });

  test('policy: findings name the table by its number', () => {
    expect(problems(`${RULE}[[tools.approval.rules]]\ntool = 3`)).toEqual([
      'Expected tools.approval.rules[1] to have the key "decision". Add it.',
      'Expected tools.approval.rules[1].tool to be a string without control characters, got the integer 3.',
    ]);
    expect(resolved(`${RULE}comand_prefix = "npm"`).warnings).toEqual([
      'tools.approval.rules[0].comand_prefix is not a known key and is ignored. The nearest known key is tools.approval.rules[0].command_prefix.',
    ]);
  });

  test.each([
    ['rules = 3', 'Expected tools.approval.rules to be an array of tables, got the integer 3.'],
    ['rules = ["x"]', 'Expected tools.approval.rules[0] to be a table, got the string "x".'],
    ['rules = {}', 'Expected tools.approval.rules to be an array of tables, got a table.'],
  ])('ruling A9: %j stops start-up', (toml, problem) => {
    expect(problems(`[tools.approval]\n${toml}`)).toEqual([problem]);
  });

  test('policy: an open table is handed on as JSON', () => {
    const definition = '[[tools.definitions]]\nname = "x"\n[tools.definitions.parameters]\n';
    const {config} = resolved(`${definition}type = "object"\nminimum = 3\nrequired = ["a", 1.5, true]`);
    expect(config.tools.definitions[0]?.parameters).toEqual({
      type: 'object',
      minimum: 3,
      required: ['a', 1.5, true],
    });
    for (const written of ['2026-01-10', 'nan', '[inf]', '9007199254740993', '{b = 2026-01-10}']) {
      expect(problems(`${definition}a = ${written}`)).toEqual([
        'Expected tools.definitions[0].parameters to be a table of JSON values, got a table.',
      ]);
    }
    expect(problems('[[tools.definitions]]\nname = "x"\nparameters = 1')).toHaveLength(1);
  });
});

describe('paths', () => {
  const cacheDir = (written: string, env: Record<string, string> = SURROUNDINGS.env) => {
    const {config, warnings} = resolved(`[tools.webfetch]\ncache_dir = '${written}'`, {
      ...SURROUNDINGS,
      env,
    } as never);
    return [config.tools.webfetch.cache_dir, ...warnings];
  };

  test('FR-WF-CFG-03 environment variables are expanded in cache_dir and chromium_path', () => {
    expect(cacheDir('${HOME}/a/${TEMP}')).toEqual(['/home/u/a/var/temp']);
    const {config} = resolved('[tools.webfetch.browser]\nchromium_path = "${HOME}/chrome"');
    expect(config.tools.webfetch.browser.chromium_path).toBe('/home/u/chrome');
  });

  test('FR-WF-CFG-03 nothing else is expanded, and nothing twice', () => {
    expect(resolved('[tools.webfetch]\nuser_agent = "${HOME}"').config.tools.webfetch.user_agent).toBe(
      '${HOME}',
    );
    expect(cacheDir('/x/$HOME/${')).toEqual(['/x/$HOME/${']);
    expect(cacheDir('/${A}', {A: '${HOME}', HOME: '/home/u'})).toEqual(['/${HOME}']);
  });

  test('ruling F5: ${TEMP} is the temporary directory of the system where TEMP is not set', () => {
    const {config} = resolved('profile = "none"', {...SURROUNDINGS, env: {}} as never);
    expect(config.tools.webfetch.cache_dir).toBe('/tmp/forge-webfetch');
    expect(cacheDir('${TEMP}/x', {TEMP: ' '})).toEqual(['/tmp/x']);
  });

  test('FR-WF-CFG-03a an unset variable leaves the path empty instead of pointing at the root', () => {
    const warning =
      'tools.webfetch.cache_dir uses ${CACHE}, which the environment does not set; it counts as empty.';
    expect(cacheDir('${CACHE}/pages')).toEqual(['', warning]);
    expect(cacheDir('${CACHE}/pages', {CACHE: ''})).toEqual(['', warning]);
    expect(cacheDir('${constructor}')[0]).toBe('');
  });

  test('FR-WF-CFG-03a a relative path starts at the working directory', () => {
    expect(cacheDir('cache/../pages')).toEqual(['/srv/app/pages']);
    const {config} = resolved('[tools.webfetch.browser]\nchromium_path = "bin/chrome"');
    expect(config.tools.webfetch.browser.chromium_path).toBe('/srv/app/bin/chrome');
  });

  test('FR-WF-CFG-03a an empty or blank path stays empty', () => {
    expect(cacheDir('')).toEqual(['']);
    expect(cacheDir(' \t\u00A0')).toEqual(['']);
  });

  test('policy: "~" is not expanded, and that is said', () => {
    expect(cacheDir('~/cache')).toEqual([
      '/srv/app/~/cache',
      'tools.webfetch.cache_dir starts with "~", which is not expanded; /srv/app/~/cache is used. Write ${HOME} instead.',
    ]);
    expect(cacheDir('~cache')).toHaveLength(1);
  });
});

describe('whatever is written', () => {
  const rawConfig = fc.object({
    key: fc.constantFrom(
      'tools',
      'webfetch',
      'security',
      'mode',
      'timeout_seconds',
      'allowed_ports',
      'x',
      '__proto__',
    ),
    values: [fc.integer(), fc.bigInt(), fc.string(), fc.boolean(), fc.double(), fc.constant(null)],
    maxDepth: 4,
  });

  test('policy: it resolves or is refused, and never throws', () => {
    fc.assert(
      fc.property(rawConfig, raw => {
        const result = resolveConfig(raw, SURROUNDINGS);
        if (!result.ok) return result.error.length > 0;
        const {timeout_seconds} = result.value.config.tools.webfetch;
        return Number.isInteger(timeout_seconds) && timeout_seconds >= 1 && timeout_seconds <= 300;
      }),
    );
  });

  test('W12: whether tools.output.max_bytes is written, be it as its default', () => {
    const limits = (raw: unknown) => {
      const resolved = resolveConfig(raw, SURROUNDINGS);
      return resolved.ok && resolved.value.limitsOutput;
    };
    expect([undefined, {}, {tools: {}}, {tools: {output: {}}}].map(limits)).toEqual(Array(4).fill(false));
    expect(limits({tools: {output: {max_bytes: 102_400}}})).toBe(true);
  });

  test('policy: what was resolved resolves to itself', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.integer()), fc.boolean(), (timeout, ports, fallback) => {
        const first = resolveConfig(
          {
            tools: {
              webfetch: {
                timeout_seconds: timeout,
                security: {allowed_ports: ports},
                robots: {fail_open: fallback},
              },
            },
          },
          SURROUNDINGS,
        );
        if (!first.ok) throw new Error(first.error.join());
        expect(resolveConfig(first.value.config, SURROUNDINGS)).toEqual({
          ok: true,
          // All is written in it.
          value: {
            config: first.value.config,
            warnings: [],
            limitsOutput: true,
            writtenMode: 'enabled',
            writesApprovalMode: true,
          },
        });
      }),
    );
  });
});
