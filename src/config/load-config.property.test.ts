import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {loadConfig} from './load-config.ts';
import {resolveConfig} from './resolve-config.ts';

const SURROUNDINGS = {env: {HOME: '/home/u'}, cwd: '/work', tempDir: '/tmp', homeDir: '/home/u'};

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      '[tools]\n',
      '[tools.webfetch]\n',
      '[tools.run]\n',
      '[[tools.approval.rules]]\n',
      '[tools.webfetch.security]\n',
    ],
    ...[
      'mode = "enabled"\n',
      'timeout_seconds = 99999\n',
      'allowed_ports = [80, 1e9]\n',
      'tool = "*"\n',
      '__proto__ = 1\n',
    ],
    ...[
      'cache_dir = "x"\n',
      'memory_mb = -1\n',
      'cpus = 2.0\n',
      '"',
      "'''",
      '=',
      '[',
      ']',
      '{',
      '}',
      '#',
      '\n',
      '1979-05-27',
    ],
  ),
  fc.string({maxLength: 6}),
);

test('ruling A9 property: any text is a configuration within its ranges, or reasons of one line', async () => {
  const path = join(temporaryDirectory(), 'config.toml');
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(piece, {maxLength: 10}), async pieces => {
      writeFileSync(path, pieces.join(''));
      const loaded = await loadConfig({...SURROUNDINGS, path});
      if (!loaded.ok) {
        expect(loaded.error.length).toBeGreaterThan(0);
        return;
      }
      accepted += 1;
      const {config} = loaded.value;
      expect(config.tools.webfetch.timeout_seconds).toBeLessThanOrEqual(300);
      expect(resolveConfig(config, SURROUNDINGS)).toEqual({
        ok: true,
        value: {
          config,
          warnings: [],
          limitsOutput: true,
          writtenMode: config.tools.mode,
          writesApprovalMode: true,
        },
      });
    }),
    {numRuns: 1500, seed: 13},
  );
  expect(accepted).toBeGreaterThan(0);
});
