import {attachTargets} from '../attach-targets.ts';
import type {CdpConnection} from '../cdp/cdp-connection.ts';
import type {PageFrame} from '../read-dom.ts';
import {pauseRequests} from '../requests/pause-requests.ts';

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
  // A page that is shown ahead of the others has the focus, and this one is to find what it would find there.
  void connection.send('Emulation.setFocusEmulationEnabled', {enabled: true}, page.sessionId);
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
