import {ok, type Result} from '../../core/result.ts';
import type {CdpConnection} from './cdp/cdp-connection.ts';

/** Where the document is. */
export interface PageFrame {
  readonly connection: CdpConnection;
  readonly sessionId: string;
  readonly frameId: string;
}

export interface Dom {
  readonly html: string;
  /** There was more than `maxBytes`. */
  readonly cut: boolean;
}

/**
 * FR-WF-DOMSIZE-01: `document.documentElement.outerHTML`, at most `maxBytes` of UTF-8, cut between two
 * characters. Read from a world of its own, where the page's scripts have changed nothing.
 */
export async function readDom(page: PageFrame, maxBytes: number): Promise<Result<Dom, string>> {
  const value = await evaluate(page, `(${cutOuterHtml})(${maxBytes})`);
  if (!value.ok) return value;
  const [html, cut] = Array.isArray(value.value) ? value.value : [];
  return typeof html === 'string' ? ok({html, cut: cut === true}) : {ok: false, error: 'no document'};
}

export async function isDomLargerThan(page: PageFrame, maxBytes: number): Promise<boolean> {
  const value = await evaluate(page, `(${cutOuterHtml})(${maxBytes})[1]`);
  return value.ok && value.value === true;
}

/** Source text that runs in the page. Getters come from the prototypes: names in a document can hide them. */
const cutOuterHtml = `maxBytes => {
  const get = (prototype, name, of) => Object.getOwnPropertyDescriptor(prototype, name).get.call(of);
  const root = get(Document.prototype, 'documentElement', document);
  if (!root) return ['', false];
  const html = get(Element.prototype, 'outerHTML', root);
  if (html.length * 3 <= maxBytes) return [html, false];
  const room = new Uint8Array(Math.min(maxBytes, html.length * 3));
  const {read} = new TextEncoder().encodeInto(html, room);
  return read < html.length ? [html.slice(0, read), true] : [html, false];
}`;

async function evaluate(
  {connection, sessionId, frameId}: PageFrame,
  expression: string,
): Promise<Result<unknown, string>> {
  const world = await connection.send('Page.createIsolatedWorld', {frameId}, sessionId);
  if (!world.ok) return world;
  const contextId = world.value.executionContextId;
  const answer = await connection.send(
    'Runtime.evaluate',
    {expression, contextId, returnByValue: true},
    sessionId,
  );
  if (!answer.ok) return answer;
  if (answer.value.exceptionDetails !== undefined) return {ok: false, error: 'the script was stopped'};
  return ok(answer.value.result.value);
}
