import {onTestFinished} from 'vitest';
import type {FetchResponse, Result, ToolboxOptions} from '../../../src/index.ts';
import {openTestToolbox, type TestToolbox} from '../../support/open-test-toolbox.ts';
import {type RawServer, startRawServer} from '../../support/raw-server.ts';

type WebFetchConfig = Parameters<typeof openTestToolbox>[1];
type Options = Omit<ToolboxOptions, 'config' | 'log'> & {readonly maxBytes?: number};

export interface EncodingHost extends TestToolbox {
  readonly server: RawServer;
  /** What the path is answered with: a whole response. */
  readonly put: (path: string, response: string | Buffer) => void;
  readonly fetch: (
    path: string,
    more?: {readonly max_chunk_tokens?: number},
  ) => Promise<Result<FetchResponse>>;
  /** `ok: TEXT`, with its notes in brackets, or `code/detail`. */
  readonly say: (path: string) => Promise<string>;
}

/** A host that answers with the very bytes it was given, and a toolbox that may fetch from it. Without an answer, 404. */
export async function openEncodingHost(
  webfetch: WebFetchConfig = {},
  options: Options = {},
): Promise<EncodingHost> {
  const answers = new Map<string, string | Buffer>();
  const server = await startRawServer(
    (socket, {head}) => {
      const response = answers.get(head.split(' ', 2)[1] ?? '') ?? respond('', {status: '404 Not Found'});
      if (typeof response === 'string') socket.end(response, 'latin1');
      else socket.end(response);
    },
    {address: '0.0.0.0'},
  );
  onTestFinished(() => server.close());
  const opened = openTestToolbox([server.port], {cache_dir: '', ...webfetch}, options);
  const fetch: EncodingHost['fetch'] = (path, more = {}) =>
    opened.toolbox.webFetch({url: `http://127.0.0.1:${server.port}${path}`, ...more});
  return {
    ...opened,
    server,
    put: (path, response) => void answers.set(path, response),
    fetch,
    say: async path => sayResult(await fetch(path)),
  };
}

export function sayResult(result: Result<FetchResponse>): string {
  if (result.ok) {
    const {chunks, notes} = result.value;
    const said = `ok: ${chunks.map(({text}) => text).join('|')}`;
    return notes.length === 0 ? said : `${said} [${notes.join()}]`;
  }
  const {code, details} = result.error;
  const {error, phase, status} = details;
  return `${code}/${error ?? phase ?? status ?? ''}`;
}

interface Shape {
  readonly status?: string;
  readonly type?: string | undefined;
  readonly coding?: string;
  /** Further header lines, each with its CRLF. */
  readonly fields?: string;
}

/** A response with a declared length. */
export function respond(body: string | Buffer, shape: Shape = {}): Buffer {
  const {status = '200 OK', type = 'text/plain', coding, fields = ''} = shape;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  const lines = [
    `HTTP/1.1 ${status}`,
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    ...(coding === undefined ? [] : [`Content-Encoding: ${coding}`]),
    `Content-Length: ${bytes.length}`,
    `Connection: close\r\n${fields}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'), bytes]);
}
