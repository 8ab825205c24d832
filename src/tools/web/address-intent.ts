import type {Intent} from '../../core/tool.ts';
import type {WebFetchOptions} from '../../web/options.ts';
import {previewAddress} from './preview-address.ts';
import {summarizeFetch} from './summarize-fetch.ts';

/** NFR-WF-OP-03: scheme, host, path and mode; never the query string. */
export function addressIntent(
  tool: string,
  url: string,
  forceBrowser: boolean,
  options: WebFetchOptions,
): Intent {
  return {
    subject: {kind: 'url', values: [url.trim()]},
    summary: summarizeFetch(tool, url, forceBrowser, options),
    preview: previewAddress(url, options),
    fileHashes: {},
  };
}
