import {configDefaults, defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // They run by themselves: vitest.hostile.config.ts.
    exclude: [...configDefaults.exclude, 'test/hostile/**'],
    testTimeout: 30_000,
    restoreMocks: true,
  },
});
