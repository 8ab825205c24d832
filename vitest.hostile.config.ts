import {defineConfig} from 'vitest/config';
import {patience, reporters, workers} from './test/support/vitest-settings.ts';

/** The hostile world: slower than the other tests, needs `dist/`, and runs by itself (`npm run test:hostile`). */
export default defineConfig({
  test: {
    include: ['test/hostile/**/*.test.ts'],
    ...patience,
    // A busy machine is slow, not wrong.
    testTimeout: 600_000,
    // A tree in which somebody wrote for minutes takes long to remove.
    hookTimeout: 600_000,
    globalSetup: 'test/support/run-setup.ts',
    maxWorkers: workers,
    restoreMocks: true,
    reporters: reporters(),
  },
});
