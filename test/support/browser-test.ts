import {test} from 'vitest';

/** The Chromium that browser tests run; the only thing that decides whether they run. */
export const TEST_CHROMIUM = process.env['FORGE_TEST_CHROMIUM_PATH'] ?? '';

/** T-WF-BR-ENV-01: a test that needs a browser is skipped unless FORGE_TEST_CHROMIUM_PATH is set. */
export const browserTest = test.skipIf(TEST_CHROMIUM === '');
