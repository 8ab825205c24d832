import type {CdpConnection} from './cdp/cdp-connection.ts';
import type {AttachedTarget} from './cdp/cdp-protocol.ts';
import type {PageFrame} from './read-dom.ts';

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
  void connection.send('Network.enable', LISTEN, sessionId);
  void connection.send('Network.setBypassServiceWorker', {bypass: true}, sessionId);
  void connection.send('Target.setAutoAttach', AUTO_ATTACH, sessionId);
  void connection.send('Runtime.runIfWaitingForDebugger', {}, sessionId);
}
