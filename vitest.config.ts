import {configDefaults, defineConfig} from 'vitest/config';
import {patience, slow, workers} from './test/support/vitest-settings.ts';

/** Where `npm run security` and CI want a report as JSON. */
const place = process.env['FORGE_TEST_REPORTS'];

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // They run by themselves: vitest.hostile.config.ts.
    exclude: [...configDefaults.exclude, 'test/hostile/**'],
    ...patience,
    maxWorkers: workers,
    tags: [slow],
    restoreMocks: true,
    reporters: place === undefined ? ['default'] : ['default', ['json', {outputFile: `${place}/tests.json`}]],
  },
});
