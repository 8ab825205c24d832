import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {recordDemo} from '../../scripts/record-demo.js';

const hasParts =
  process.env['FORGE_TEST_BWRAP'] !== undefined && process.env['FORGE_TEST_CHROMIUM_PATH'] !== undefined;

test.runIf(hasParts)(
  'policy: what the picture of the demo shows is what the demo prints',
  async () => {
    const recorded = readFileSync(new URL('../../docs/pictures/demo.txt', import.meta.url), 'utf8');
    const stale = 'the pictures are out of date: run `npm run pictures` and commit the result';
    expect(await recordDemo(({text}) => text), stale).toBe(recorded);
  },
  120_000,
);
