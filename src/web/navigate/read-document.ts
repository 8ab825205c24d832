import {ok, type Result} from '../../core/result.ts';
import {decideMedia} from '../decode/decide-media.ts';
import {sniffMedia} from '../decode/sniff-media.ts';
import type {WebFetchOptions} from '../options.ts';
import type {HttpResponse, RawDocument} from '../page.ts';
import {checkStatus} from './check-status.ts';

/** Ruling C1: status before content type, content type before size. */
export async function readDocument(
  response: HttpResponse,
  options: Pick<WebFetchOptions, 'http' | 'max_download_bytes'>,
): Promise<Result<RawDocument>> {
  const status = checkStatus(response);
  if (!status.ok || status.value === 'empty') {
    response.discard();
    if (!status.ok) return status;
    return ok({status: response.status, bytes: new Uint8Array(), media: 'text', headerCharset: undefined});
  }
  const declared = decideMedia(response.headers.get('content-type'), {
    acceptMarkdown: options.http.accept_markdown,
  });
  if (!declared.ok) {
    response.discard();
    return declared;
  }
  const body = await response.read(options.max_download_bytes);
  if (!body.ok) return body;
  const media = declared.value.media === undefined ? sniffMedia(body.value) : ok(declared.value.media);
  if (!media.ok) return media;
  return ok({
    status: response.status,
    bytes: body.value,
    media: media.value,
    headerCharset: declared.value.charset,
  });
}
