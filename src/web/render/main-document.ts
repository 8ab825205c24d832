import type {MainDocument} from '../browser/render-ports.ts';
import {decodeText} from '../decode/decode-text.ts';
import type {HeaderMap, RawDocument, WebUrl} from '../page.ts';

/** Ruling D1: the browser is given the very text that HTTP mode reads, as UTF-8. */
export function mainDocument(url: WebUrl, headers: HeaderMap, raw: RawDocument): MainDocument {
  const {bytes, media, headerCharset} = raw;
  const html = media === 'html';
  const {text, fallback} = decodeText(bytes, {html, ...(headerCharset !== undefined && {headerCharset})});
  return {
    url: url.canonical,
    headers,
    contentType: html ? 'text/html' : 'text/plain',
    bytes: Buffer.from(text, 'utf8'),
    charsetFallback: fallback,
  };
}
