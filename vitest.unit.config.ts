import {configDefaults, defineConfig} from 'vitest/config';

/** The fast loop (`npm run test:unit`): beside the code, in threads that share their modules. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    // Races and large inputs take their time. `npm test` runs them.
    exclude: [
      ...configDefaults.exclude,
      'src/**/*{race,hostile,crash}*.test.ts',
      'src/**/*.property.test.ts',
    ],
    pool: 'threads',
    isolate: false,
    testTimeout: 30_000,
    restoreMocks: true,
  },
});
