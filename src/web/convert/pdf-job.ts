// Converts a PDF. Only loaded for one.

import {extractPdf} from '../extract/pdf/extract-pdf.ts';
import type {ConvertedDocument, ConvertJob} from './jobs.ts';
import {runChunkJob} from './plan-job.ts';

/** Ruling R3: a PDF, in a thread that ends with it. Its bytes are used up. */
export async function runPdfJob({bytes, maxTokens}: ConvertJob): Promise<ConvertedDocument> {
  const document = await extractPdf(bytes);
  return {
    document,
    charsetFallback: false,
    spaIndicators: false,
    about: {},
    plan: runChunkJob({markdown: document.markdown, maxTokens}),
    bytes: new Uint8Array(),
  };
}
