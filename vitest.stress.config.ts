import {readdirSync, readFileSync} from 'node:fs';
import {defineConfig} from 'vitest/config';
import {patience, reporters, slow, stress} from './test/support/vitest-settings.ts';

/** Only the tests tagged `stress`, from the files that have some. */
const include = ['src', 'test']
  .flatMap(room => readdirSync(room, {recursive: true}).map(name => `${room}/${name}`))
  .filter(path => /\.test\.ts$/.test(path) && !path.startsWith('test/hostile/'))
  .filter(path => /tags: 'stress'/.test(readFileSync(path, 'utf8')));

/** What repeats kills, crowds and growth: part of `npm run test:hostile`. Needs `dist/`. */
export default defineConfig({
  test: {
    // Their contract lies in a file that is no test.
    include: [...include, 'test/e2e/sandbox-contract.test.ts'],
    tags: [slow, stress],
    // The types know it as an option of the command line only.
    ...{tagsFilter: ['stress']},
    ...patience,
    testTimeout: 600_000,
    globalSetup: 'test/support/run-setup.ts',
    experimental: {fsModuleCache: true},
    restoreMocks: true,
    reporters: reporters(),
  },
});
