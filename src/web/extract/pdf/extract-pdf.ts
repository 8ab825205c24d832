import type {ExtractedDocument} from '../../page.ts';
import {ConversionProblem} from '../conversion-problem.ts';
import {visibleText} from '../tree/visible-text.ts';
import {CharacterMaps} from './character-maps.ts';
import {PageText} from './page-text.ts';
import {prepareThread} from './prepare-thread.ts';
import {readingOrder} from './reading-order.ts';

const MOST_PAGES = 5000;
/** UTF-16 units of all pages together. */
const MOST_TEXT = 20_000_000;
const LONGEST_TITLE = 500;
/** ISO 32000 §7.5.2: where a file starts; readers take what has something in front of it. */
const HEADER_BYTES = 1024;
const LANGUAGE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,8}$/;

/**
 * Ruling R3: the text of a PDF in the order in which it is read, every page a section. Runs in a thread that does
 * nothing else afterwards: PDF is a program, and what it did to the thread stays there. Throws `ConversionProblem`.
 */
export async function extractPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES)).includes('%PDF-')) {
    throw new ConversionProblem('damaged', 'it does not begin like a PDF');
  }
  prepareThread();
  const {getDocument} = await loadReader();
  const task = getDocument({
    data: bytes,
    // Nothing of a document is run, rendered, or fetched.
    enableXfa: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    maxImageSize: 1,
    stopAtErrors: false,
    verbosity: 0,
    cMapUrl: 'cmaps/',
    BinaryDataFactory: CharacterMaps,
  });
  try {
    const document = await task.promise;
    const {numPages} = document;
    if (numPages > MOST_PAGES) {
      throw new ConversionProblem(
        'too_complex',
        `it has ${numPages} pages, and at most ${MOST_PAGES} are read`,
      );
    }
    const pages: string[] = [];
    let length = 0;
    for (let number = 1; number <= numPages; number += 1) {
      const text = await pageMarkdown(document, number);
      length += text.length;
      if (length > MOST_TEXT)
        throw new ConversionProblem('too_complex', `it has more text than ${MOST_TEXT} units`);
      pages.push(text);
    }
    if (length === 0) {
      const pagesOf = numPages === 1 ? '1 page' : `${numPages} pages`;
      throw new ConversionProblem('no_text', `its ${pagesOf} have pictures and no text, as a scan has`);
    }
    const markdown = pages.map((text, index) => section(text, index + 1)).join('\n\n');
    return {markdown: `${markdown}\n`, ...(await aboutDocument(document))};
  } catch (error) {
    throw asProblem(error);
  } finally {
    await task.destroy().catch(() => {});
  }
}

type Reader = typeof import('pdfjs-dist/legacy/build/pdf.mjs');
type PdfDocument = Awaited<ReturnType<Reader['getDocument']>['promise']>;

/** The part that parses is loaded into this thread, instead of one of its own. */
async function loadReader(): Promise<Reader> {
  // @ts-expect-error: its types say nothing of this file.
  const parser: unknown = await import('pdfjs-dist/legacy/build/pdf.worker.mjs');
  Object.assign(globalThis, {pdfjsWorker: parser});
  return import('pdfjs-dist/legacy/build/pdf.mjs');
}

async function pageMarkdown(document: PdfDocument, number: number): Promise<string> {
  const page = await document.getPage(number);
  const {items} = await page.getTextContent();
  const text = new PageText();
  for (const run of readingOrder(items.filter(item => 'str' in item))) text.add(run);
  page.cleanup();
  return text.markdown();
}

function section(text: string, number: number): string {
  return text === '' ? `# Page ${number}` : `# Page ${number}\n\n${text}`;
}

async function aboutDocument(document: PdfDocument): Promise<Omit<ExtractedDocument, 'markdown'>> {
  const {info} = await document.getMetadata();
  const {Title, Language}: {readonly Title?: unknown; readonly Language?: unknown} = info;
  const title = typeof Title === 'string' ? visibleText(Title).replace(/\s+/g, ' ').trim() : '';
  const language = typeof Language === 'string' && LANGUAGE.test(Language) ? Language : undefined;
  return {
    ...(title !== '' && title.length <= LONGEST_TITLE && {title}),
    ...(language !== undefined && {language}),
  };
}

/** What the reader says of a document quotes it, so only its kind goes on. */
function asProblem(error: unknown): ConversionProblem {
  if (error instanceof ConversionProblem) return error;
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') {
    return new ConversionProblem('encrypted', 'it is encrypted and opens with a password only');
  }
  if (error instanceof RangeError) return new ConversionProblem('too_complex', 'a part of it is too large');
  return new ConversionProblem('damaged', 'it is not a PDF that can be read');
}
