import {defineConfig} from 'vitest/config';
import {besideCode, patience, reporters, slow, stress, workers} from './test/support/vitest-settings.ts';

/** The fast loop (`npm run test:unit`): beside the code, without what takes its time. `npm test` runs that. */
export default defineConfig({
  test: {
    ...besideCode,
    tags: [slow, stress],
    // The types know it as an option of the command line only.
    ...{tagsFilter: ['!slow && !stress']},
    // What was compiled is kept below node_modules for the next run.
    experimental: {fsModuleCache: true},
    globalSetup: 'test/support/run-setup.ts',
    maxWorkers: workers,
    ...patience,
    restoreMocks: true,
    reporters: reporters(),
  },
});
