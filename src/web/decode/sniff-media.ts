import {ok, type Result} from '../../core/result.ts';
import type {Media} from './decide-media.ts';
import {refuseMedia} from './refuse-media.ts';

const SNIFFED_BYTES = 512;

/** FR-WF-10h: binary signatures at the start of a file, as Latin-1 text. */
const SIGNATURES: readonly (readonly [signature: RegExp, contentType: string])[] = [
  [/^%PDF-/, 'application/pdf'],
  [/^\x89PNG/, 'image/png'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^PK\x03\x04/, 'application/zip'],
  [/^.{4}ftyp/s, 'video/mp4'],
];

/**
 * FR-WF-10h, ruling C6: the kind of a body that came without a `Content-Type`.
 * Errors: `unsupported_content_type`.
 */
export function sniffMedia(body: Uint8Array): Result<Media> {
  const length = Math.min(body.length, SNIFFED_BYTES);
  const start = Buffer.from(body.buffer, body.byteOffset, length).toString('latin1');
  const content = start.replace(/^(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe)/, '').replace(/^[\t\n\f\r ]+/, '');
  const binary = SIGNATURES.find(([signature]) => signature.test(start) || signature.test(content));
  if (binary !== undefined) return refuseMedia(binary[1]);
  if (start.includes('\0')) return refuseMedia('application/octet-stream');
  return ok(/^<(?:!doctype|html)/i.test(content) ? 'html' : 'text');
}
