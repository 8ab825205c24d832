// The text of a PDF as Markdown: a page becomes a section.

import {readFile} from 'node:fs/promises';
import {promisify} from 'node:util';
import {brotliDecompress} from 'node:zlib';
import {packageFile} from '../../../core/package-file.ts';
import {toUrl} from '../../../core/text/parse.ts';
import type {ExtractedDocument} from '../../page.ts';
import {boundedTitle, languageTag} from '../about.ts';
import {ConversionProblem} from '../extract-html.ts';
import {visibleText} from '../tree/visible-text.ts';
import {PageText, readingOrder} from './page-text.ts';

const MOST_PAGES = 5000;
/** UTF-16 units of all pages together. */
const MOST_TEXT = 20_000_000;
/** ISO 32000 §7.5.2: where a file starts; readers take what has something in front of it. */
const HEADER_BYTES = 1024;

/**
 * Ruling R3: the text of a PDF in the order in which it is read, every page a section. Runs in a thread that does
 * nothing else afterwards: PDF is a program, and what it did to the thread stays there. Throws `ConversionProblem`.
 */
export async function extractPdf(bytes: Uint8Array): Promise<ExtractedDocument> {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES)).includes('%PDF-')) {
    throw new ConversionProblem('damaged', 'it does not begin like a PDF');
  }
  prepareThread();
  const reader = await loadReader();
  const task = reader.getDocument({
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
    const layers = await document.getOptionalContentConfig();
    const pages: string[] = [];
    let length = 0;
    for (let number = 1; number <= numPages; number += 1) {
      const page = await document.getPage(number);
      const text = await pageMarkdown(page);
      length += text.length;
      if (length > MOST_TEXT)
        throw new ConversionProblem('too_complex', `it has more text than ${MOST_TEXT} units`);
      const isDrawn = text === '' || (await drawsAllText(page, text, reader.OPS, layers));
      pages.push(section(text, number, isDrawn));
      page.cleanup();
    }
    if (length === 0) {
      const pagesOf = numPages === 1 ? '1 page' : `${numPages} pages`;
      throw new ConversionProblem('no_text', `its ${pagesOf} have pictures and no text, as a scan has`);
    }
    return {markdown: `${pages.join('\n\n')}\n`, ...(await aboutDocument(document))};
  } catch (error) {
    throw asProblem(error);
  } finally {
    await task.destroy().catch(() => {});
  }
}

type Reader = typeof import('pdfjs-dist/legacy/build/pdf.mjs');
type PdfDocument = Awaited<ReturnType<Reader['getDocument']>['promise']>;
type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;
type Layers = Awaited<ReturnType<PdfDocument['getOptionalContentConfig']>>;

/** The part that parses is loaded into this thread, instead of one of its own. */
async function loadReader(): Promise<Reader> {
  // @ts-expect-error: its types say nothing of this file.
  const parser: unknown = await import('pdfjs-dist/legacy/build/pdf.worker.mjs');
  Object.assign(globalThis, {pdfjsWorker: parser});
  return import('pdfjs-dist/legacy/build/pdf.mjs');
}

async function pageMarkdown(page: PdfPage): Promise<string> {
  const {items} = await page.getTextContent();
  const text = new PageText();
  for (const run of readingOrder(items.filter(item => 'str' in item))) text.add(run);
  return text.markdown();
}

/**
 * Red team F10: whether all text of a page is drawn: none in the rendering modes that draw nothing (ISO 32000 §9.3.6), as
 * the text of a scan is, and none in a layer that is off. What is drawn may still be white, clipped or covered.
 */
async function drawsAllText(
  page: PdfPage,
  text: string,
  ops: Reader['OPS'],
  layers: Layers,
): Promise<boolean> {
  const {fnArray, argsArray} = await page.getOperatorList({annotationMode: 0});
  const saved: number[] = [];
  const layersOff: number[] = [];
  let mode = 0;
  let drawn = 0;
  for (const [index, operation] of fnArray.entries()) {
    const given: readonly unknown[] = argsArray[index] ?? [];
    if (operation === ops.save || operation === ops.paintFormXObjectBegin) saved.push(mode);
    else if (operation === ops.restore || operation === ops.paintFormXObjectEnd) mode = saved.pop() ?? mode;
    else if (operation === ops.setTextRenderingMode) mode = Number(given[0]);
    else if (operation === ops.beginMarkedContent) layersOff.push(layersOff.at(-1) ?? 0);
    else if (operation === ops.beginMarkedContentProps) {
      const isOff = given[0] === 'OC' && !layers.isVisible(given[1]);
      layersOff.push((layersOff.at(-1) ?? 0) + Number(isOff));
    } else if (operation === ops.endMarkedContent) layersOff.pop();
    else if (operation === ops.showText) {
      if (mode === 3 || mode === 7 || (layersOff.at(-1) ?? 0) > 0) return false;
      for (const glyph of Array.isArray(given[0]) ? given[0] : []) drawn += lettersIn(glyph?.unicode ?? '');
    }
  }
  // A list that ends early, at what cannot be drawn, says nothing of the rest.
  return drawn >= lettersIn(text);
}

/** In the form that the reader gives the text of a page. */
function lettersIn(text: string): number {
  return text.normalize('NFKC').match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** A verdict about a quote names the section, so this is said with each of the page. */
function section(text: string, number: number, isDrawn: boolean): string {
  const heading = isDrawn ? `# Page ${number}` : `# Page ${number} (some of its text is not drawn)`;
  return text === '' ? heading : `${heading}\n\n${text}`;
}

async function aboutDocument(document: PdfDocument): Promise<Omit<ExtractedDocument, 'markdown'>> {
  const {info} = await document.getMetadata();
  const {Title, Language}: {readonly Title?: unknown; readonly Language?: unknown} = info;
  const title = typeof Title === 'string' ? visibleText(Title).replace(/\s+/g, ' ').trim() : '';
  const language = typeof Language === 'string' ? languageTag(Language) : undefined;
  return {
    ...(title !== '' && {title: boundedTitle(title)}),
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

/**
 * What turns codes of East Asian fonts into characters comes with this package, as one file: a line of JSON with the
 * place and length of each map, then the maps. The build writes it (`scripts/bundle.js`).
 */
class CharacterMaps {
  /** For pdf.js, which asks for a map by its name. */
  async fetch({kind, filename}: {readonly kind: string; readonly filename: string}): Promise<Uint8Array> {
    const {places, maps} = await allMaps();
    const place = places.get(filename);
    if (kind !== 'cMapUrl' || place === undefined) throw new Error('There is no such file.');
    return maps.slice(place.start, place.start + place.length);
  }
}

interface AllMaps {
  readonly places: ReadonlyMap<string, {readonly start: number; readonly length: number}>;
  readonly maps: Uint8Array;
}

let read: Promise<AllMaps> | undefined;

/** Most documents need none, so they are read with the first that is asked for. */
function allMaps(): Promise<AllMaps> {
  read ??= readFile(packageFile('dist/cmaps.br')).then(promisify(brotliDecompress)).then(parse);
  return read;
}

function parse(bytes: Buffer): AllMaps {
  const end = bytes.indexOf('\n');
  const listed: Record<string, {start: number; length: number}> = JSON.parse(bytes.toString('utf8', 0, end));
  return {places: new Map(Object.entries(listed)), maps: new Uint8Array(bytes.subarray(end + 1))};
}

/** Largest piece of memory: a stream of a few hundred bytes can say that it unpacks to gigabytes. */
const LARGEST_BYTES = 67_108_864;
/** What the process has in memory. Where the system holds a limit (`pdf-process.ts`), that one comes first. */
const MOST_BYTES = 536_870_912;
/** So many bytes are allocated between two looks at that. */
const LOOK_BYTES = 16_777_216;

// biome-ignore format: a list
const ARRAYS = [
  'ArrayBuffer', 'Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array',
  'Float32Array', 'Float64Array',
] as const;

/**
 * Makes of this thread one for a PDF: it prints nothing, has no `fetch`, and what it allocates outside the heap,
 * which the limits of a thread do not know, is bounded. Adds what Node 20 lacks and the reader needs.
 */
function prepareThread(): void {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) console[method] = () => {};
  for (const name of ['fetch', 'WebSocket', 'XMLHttpRequest', 'EventSource']) {
    Object.defineProperty(globalThis, name, {value: undefined, configurable: true, writable: true});
  }
  addMissing(Promise, 'withResolvers', withResolvers);
  addMissing(URL, 'parse', parseUrl);
  addMissing(ArrayBuffer.prototype, 'transferToFixedLength', copyToLength);
  boundAllocations();
}

function boundAllocations(): void {
  let sinceLook = 0;
  for (const name of ARRAYS) {
    const native: {readonly BYTES_PER_ELEMENT?: number} & (new (...given: unknown[]) => object) =
      globalThis[name];
    const bounded: typeof native = new Proxy(native, {
      construct(target, given: unknown[], newTarget) {
        const [length] = given;
        if (typeof length === 'number') {
          const bytes = length * (target.BYTES_PER_ELEMENT ?? 1);
          sinceLook += bytes > 0 ? bytes : 0;
          if (bytes > LARGEST_BYTES) throw new RangeError('Too much memory is asked for at once.');
          if (sinceLook >= LOOK_BYTES) {
            sinceLook = 0;
            if (process.memoryUsage.rss() > MOST_BYTES) throw new RangeError('Too much memory is taken.');
          }
        }
        return Reflect.construct(target, given, newTarget === bounded ? target : newTarget);
      },
    });
    Object.assign(globalThis, {[name]: bounded});
  }
}

function addMissing(target: object, name: string, value: unknown): void {
  if (!(name in target)) Object.defineProperty(target, name, {value, configurable: true, writable: true});
}

function withResolvers() {
  let resolve: (value: unknown) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return {promise, resolve, reject};
}

function copyToLength(this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
  const copy = new Uint8Array(length);
  copy.set(new Uint8Array(this, 0, Math.min(length, this.byteLength)));
  return copy.buffer;
}

function parseUrl(url: string, base?: string): URL | null {
  return toUrl(url, base) ?? null;
}
