import {configDefaults, defineConfig} from 'vitest/config';
import {slow, workers} from './test/support/vitest-settings.ts';

/** The fast loop (`npm run test:unit`): beside the code, in threads that share their modules. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    // Races, crashes, large inputs and properties take their time. `npm test` runs them.
    exclude: [
      ...configDefaults.exclude,
      'src/**/*{race,hostile,crash}*.test.ts',
      'src/**/*.property.test.ts',
    ],
    tags: [slow],
    tagsFilter: ['!slow'],
    pool: 'threads',
    isolate: false,
    maxWorkers: workers,
    testTimeout: 30_000,
    restoreMocks: true,
  },
});
