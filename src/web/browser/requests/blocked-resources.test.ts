import {expect, test} from 'vitest';
import {readBlockedResources} from './blocked-resources.ts';

/** FR-WF-BLOCKRES-01 as it is printed there. */
const PRINTED =
  'Document Stylesheet Image Media Font Script TextTrack XHR Fetch Prefetch EventSource WebSocket Manifest SignedExchange Ping CSPViolationReport Preflight Other'.split(
    ' ',
  );

test('FR-WF-BLOCKRES-01 every CDP type is known, in any case', () => {
  for (const spelled of [
    PRINTED,
    PRINTED.map(type => type.toLowerCase()),
    PRINTED.map(type => type.toUpperCase()),
  ]) {
    expect(readBlockedResources(spelled)).toEqual({ok: true, value: new Set(PRINTED)});
  }
});

test.each(['', ' image', 'images', 'Imag', 'css', '*'])(
  'FR-WF-BLOCKRES-01 %j is no type: bad_args that names it',
  entry => {
    expect(readBlockedResources(['image', entry])).toMatchObject({
      error: {
        code: 'bad_args',
        details: {
          field: 'tools.webfetch.browser.block_resources',
          reason: expect.stringContaining(`"${entry}"`),
        },
      },
    });
  },
);
