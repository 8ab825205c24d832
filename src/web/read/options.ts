import type {Section, SettingsOf} from '../../core/setting.ts';

/** Ruling R1: `[tools.webread]`. */
export const webReadSection = {
  kind: 'section',
  doc: 'Reading a page for what an answer needs: `web_read` and `verify_quote`, over the pipeline, cache and guard of `[tools.webfetch]`.',
  extension: true,
  entries: {
    enabled: {
      kind: 'flag',
      default: true,
      extension: true,
      doc: 'Offer `web_read` and `verify_quote` to agents, where `tools.webfetch.enabled` offers `web_fetch`.',
    },
    mode: {
      kind: 'choice',
      default: 'reader',
      choices: ['reader', 'srd'],
      extension: true,
      doc: 'What `web_read` and `verify_quote` take for the content of a page, as `tools.webfetch.extraction.mode` says it for `web_fetch`.',
    },
  },
} as const satisfies Section;

export type WebReadOptions = SettingsOf<typeof webReadSection>;
