import {defineConfig} from 'vitest/config';
import {patience, reporters, workers} from './test/support/vitest-settings.ts';

/** The hostile world: slower than the other tests, needs `dist/`, and runs by itself (`npm run test:hostile`). */
export default defineConfig({
  test: {
    include: ['test/hostile/**/*.test.ts'],
    ...patience,
    testTimeout: 120_000,
    // A tree in which somebody wrote for minutes takes long to remove.
    hookTimeout: 120_000,
    globalSetup: 'test/support/own-temporary-directory.ts',
    maxWorkers: workers,
    restoreMocks: true,
    reporters: reporters('hostile'),
  },
});
