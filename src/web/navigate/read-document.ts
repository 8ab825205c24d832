import {ok, type Result} from '../../core/result.ts';
import {decideMedia} from '../decode/decide-media.ts';
import {sniffMedia} from '../decode/sniff-media.ts';
import type {ExtraMedia, HttpResponse, RawDocument} from '../page.ts';
import {checkStatus} from './check-status.ts';

export interface DocumentTerms {
  /** `tools.webfetch.max_download_bytes` */
  readonly maxBytes: number;
  /** What is read beside HTML and plain text. */
  readonly accepts: ReadonlySet<ExtraMedia>;
}

/** Ruling C1: status before content type, content type before size. */
export async function readDocument(
  response: HttpResponse,
  {maxBytes, accepts}: DocumentTerms,
): Promise<Result<RawDocument>> {
  const status = checkStatus(response);
  if (!status.ok || status.value === 'empty') {
    response.discard();
    if (!status.ok) return status;
    return ok({status: response.status, bytes: new Uint8Array(), media: 'text', headerCharset: undefined});
  }
  const declared = decideMedia(response.headers.get('content-type'), {accepts});
  if (!declared.ok) {
    response.discard();
    return declared;
  }
  const body = await response.read(maxBytes);
  if (!body.ok) return body;
  const {media: known, declared: vague} = declared.value;
  const media = known === undefined ? sniffMedia(body.value, {accepts, declared: vague}) : ok(known);
  if (!media.ok) return media;
  return ok({
    status: response.status,
    bytes: body.value,
    media: media.value,
    headerCharset: declared.value.charset,
  });
}
