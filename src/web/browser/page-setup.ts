// What is said to Chromium about a page: attach, pause, read its DOM.

import {ok, type Result} from '../../core/result.ts';
import type {AttachedTarget, CdpConnection} from './cdp.ts';

/** What runs a page's code. Chromium's own surfaces are not among them and stay waiting for good. */
const WATCHED = new Set(['page', 'iframe', 'worker', 'shared_worker', 'service_worker', 'worklet']);

const AUTO_ATTACH = {autoAttach: true, waitForDebuggerOnStart: true, flatten: true} as const;
/** The leak detector listens; bodies are kept for nobody. */
const LISTEN = {maxTotalBufferSize: 0, maxResourceBufferSize: 0} as const;

/**
 * Ruling G2: every page, frame and worker waits until it is watched. The first page is ours; others,
 * which scripts opened, are closed before they run.
 */
export function attachTargets(connection: CdpConnection, onPage: (page: PageFrame) => void): void {
  let found = false;
  connection.on('Target.attachedToTarget', target => {
    const {sessionId, targetInfo} = target;
    const {type, targetId} = targetInfo;
    if (!WATCHED.has(type)) return;
    if (type !== 'page') {
      watch(connection, target);
    } else if (found) {
      void connection.send('Target.closeTarget', {targetId});
    } else {
      found = true;
      onPage({connection, sessionId, frameId: targetId});
      watch(connection, target);
    }
  });
  connection.on('Page.javascriptDialogOpening', (_, session) => {
    void connection.send('Page.handleJavaScriptDialog', {accept: false}, session);
  });
  void connection.send('Target.setAutoAttach', AUTO_ATTACH);
}

function watch(connection: CdpConnection, {sessionId, targetInfo: {type}}: AttachedTarget): void {
  if (type === 'page' || type === 'iframe') void connection.send('Page.enable', {}, sessionId);
  // Chromium gives a page the focus a moment after it is shown. Every page finds it there from the start.
  if (type === 'page') void connection.send('Emulation.setFocusEmulationEnabled', {enabled: true}, sessionId);
  void connection.send('Network.enable', LISTEN, sessionId);
  void connection.send('Network.setBypassServiceWorker', {bypass: true}, sessionId);
  void connection.send('Target.setAutoAttach', AUTO_ATTACH, sessionId);
  void connection.send('Runtime.runIfWaitingForDebugger', {}, sessionId);
}

/** Everything that Chromium asks for from here on waits for an answer of ours; it downloads nothing. */
export function pauseRequests(connection: CdpConnection): void {
  void connection.send('Browser.setDownloadBehavior', {behavior: 'deny'});
  void connection.send('Fetch.enable', {patterns: [{urlPattern: '*'}]});
}

/** Resolves a task after the document is there: nothing of its loading is heard of behind the answer. */
const LOADED = `new Promise(resolve => {
  const later = () => setTimeout(resolve);
  if (document.readyState === 'complete') later();
  else addEventListener('load', later);
})`;

/**
 * An empty page, watched like any other, with a process that is there. It asks nobody for anything. `undefined` where
 * Chromium ends first.
 */
export async function openBlankPage(connection: CdpConnection): Promise<PageFrame | undefined> {
  const attached = new Promise<PageFrame>(resolve => attachTargets(connection, resolve));
  pauseRequests(connection);
  void connection.send('Target.createTarget', {url: 'about:blank'});
  const page = await Promise.race([attached, connection.closed]);
  if (!page) return undefined;
  const loaded = await evaluate(page, LOADED);
  return loaded ? page : undefined;
}

/** Whether its process answers. */
export function isAlive(page: PageFrame): Promise<boolean> {
  return evaluate(page, '0');
}

/** Has an empty page load `url` in its own place, so that it is the first entry of the history. */
export function replaceBlankPage(page: PageFrame, url: string): void {
  void evaluate(page, `location.replace(${JSON.stringify(url)})`);
}

/** Only in a page that is empty: elsewhere scripts of the page have a say in what that does. */
async function evaluate({connection, sessionId}: PageFrame, expression: string): Promise<boolean> {
  const params = {expression, awaitPromise: true, returnByValue: true} as const;
  const answer = await connection.send('Runtime.evaluate', params, sessionId);
  return answer.ok && answer.value.exceptionDetails === undefined;
}

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
  const value = await evaluateIsolated(page, `(${cutOuterHtml})(${maxBytes})`);
  if (!value.ok) return value;
  const [html, cut] = Array.isArray(value.value) ? value.value : [];
  return typeof html === 'string' ? ok({html, cut: cut === true}) : {ok: false, error: 'no document'};
}

export async function isDomLargerThan(page: PageFrame, maxBytes: number): Promise<boolean> {
  const value = await evaluateIsolated(page, `(${cutOuterHtml})(${maxBytes})[1]`);
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

async function evaluateIsolated(
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
