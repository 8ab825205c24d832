import {z} from 'zod';
import type {QuoteOutcome} from '../../web/read-page.ts';

const check = z.object({
  verdict: z
    .enum(['exact', 'same', 'near', 'absent'])
    .describe(
      'same: but for white space, links, quotation marks, dashes or Markdown syntax. Only exact and same are quotes.',
    ),
  start: z.int().exactOptional().describe('Position in the snapshot, in code points.'),
  end: z.int().exactOptional(),
  chunk: z.int().exactOptional().describe('Where it stands; of what is absent, the nearest passage.'),
  section: z.object({number: z.int(), heading: z.string()}).exactOptional(),
  share: z.number().exactOptional().describe('How much of a near quote the longest run of its words is.'),
  text: z.string().exactOptional().describe('That run, as the page has it. Untrusted.'),
  link: z.string().exactOptional().describe('Opens the page at the quote.'),
});

export const verifyQuoteData = z.object({
  final_url: z.string(),
  fetched_at: z.string().describe('RFC 3339 time of the original fetch.'),
  snapshot: z.string(),
  checks: z.array(check).readonly().describe('In the order of the quotes.'),
});

export type VerifyQuoteData = z.output<typeof verifyQuoteData>;

export function verifyQuoteDataOf({page, checks}: QuoteOutcome): VerifyQuoteData {
  const {finalUrl, fetchedAt, snapshot} = page;
  return {
    final_url: finalUrl,
    fetched_at: fetchedAt,
    snapshot,
    checks: checks.map(found => {
      if (found.verdict === 'near' || found.verdict === 'absent') return found;
      const {fragment, ...place} = found;
      return fragment === undefined ? place : {...place, link: `${finalUrl}#${fragment}`};
    }),
  };
}
