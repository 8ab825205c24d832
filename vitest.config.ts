import {configDefaults, defineConfig} from 'vitest/config';
import {
  besideCode,
  countsItsProcess,
  patience,
  reporters,
  secondTry,
  slow,
  stress,
  takesAProcess,
  workers,
} from './test/support/vitest-settings.ts';

// What was compiled is kept below node_modules for the next run.
const each = {...patience, tags: [slow, stress], restoreMocks: true, experimental: {fsModuleCache: true}};

/** Everything but attacks. `npm test` also leaves out what repeats kills, crowds and growth (`npm run test:hostile`). */
export default defineConfig({
  test: {
    globalSetup: 'test/support/run-setup.ts',
    tags: [slow, stress],
    maxWorkers: workers,
    reporters: reporters(),
    projects: [
      {test: {...each, name: 'alone', include: takesAProcess}},
      {test: {...each, ...secondTry, name: 'counted', include: countsItsProcess}},
      {
        test: {
          ...each,
          ...secondTry,
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/hostile/**', ...countsItsProcess],
          pool: 'forks',
          isolate: false,
        },
      },
      {test: {...each, ...besideCode, name: 'beside the code'}},
    ],
  },
});
