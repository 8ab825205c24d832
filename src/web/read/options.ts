import type {Section, SettingsOf} from '../../core/setting.ts';
import {EXTRA_MEDIA, type ExtraMedia} from '../page.ts';

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
    media: {
      kind: 'section',
      doc: 'What `web_read` and `verify_quote` read beside HTML and plain text. A profile switches all on that the file leaves open. `web_fetch` does not take part.',
      extension: true,
      entries: {
        markdown: {
          kind: 'flag',
          default: false,
          extension: true,
          doc: 'Ask for `text/markdown` first, and follow what a page names as its version in Markdown, at its own origin.',
        },
        json: {kind: 'flag', default: false, extension: true, doc: 'Read JSON: paths as sections.'},
        feeds: {
          kind: 'flag',
          default: false,
          extension: true,
          doc: 'Read RSS and Atom: entries as sections.',
        },
        pdf: {
          kind: 'flag',
          default: false,
          extension: true,
          doc: 'Read the text of PDF: pages as sections. Scans are refused.',
        },
      },
    },
  },
} as const satisfies Section;

export type WebReadOptions = SettingsOf<typeof webReadSection>;

/** Ruling R3 */
export function readableMedia({media}: WebReadOptions): ReadonlySet<ExtraMedia> {
  const {markdown, json, feeds, pdf} = media;
  const allowed = {markdown, json, feed: feeds, pdf};
  return new Set(EXTRA_MEDIA.filter(one => allowed[one]));
}
