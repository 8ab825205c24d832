import {configDefaults, defineConfig} from 'vitest/config';
import {
  besideCode,
  patience,
  reporters,
  slow,
  takesAProcess,
  workers,
} from './test/support/vitest-settings.ts';

const each = {...patience, tags: [slow], restoreMocks: true};

export default defineConfig({
  test: {
    globalSetup: 'test/support/own-temporary-directory.ts',
    maxWorkers: workers,
    reporters: reporters('tests'),
    projects: [
      {
        test: {
          ...each,
          name: 'whole',
          include: [...takesAProcess, 'test/**/*.test.ts'],
          // They run by themselves: vitest.hostile.config.ts.
          exclude: [...configDefaults.exclude, 'test/hostile/**'],
        },
      },
      {test: {...each, ...besideCode, name: 'beside the code'}},
    ],
  },
});
