import {toUrl} from '../../core/text/to-url.ts';
import type {CdpConnection} from './cdp/cdp-connection.ts';

const BEYOND_CONTROL = [
  'Network.webSocketWillSendHandshakeRequest',
  'Network.webSocketHandshakeResponseReceived',
  'Network.webSocketFrameSent',
  'Network.webSocketFrameReceived',
  'Network.webTransportConnectionEstablished',
] as const;

/** How a WebSocket fails that had a socket; behind the layers it fails for want of a proxy or a network. */
const HAD_A_SOCKET =
  /CONNECTION_(?:ABORTED|CLOSED|RESET|TIMED_OUT)|LOCAL_NETWORK|SSL|CERT|HTTP_RESPONSE|EMPTY_RESPONSE|Unexpected response/;

/**
 * Ruling G1: the last line. A response that came over a socket of Chromium's own, or that nobody here
 * gave, means that a page has found a way out. `onLeak` gets what was seen, without query.
 */
export function watchForLeaks(
  connection: CdpConnection,
  wasAnswered: (url: string) => boolean,
  onLeak: (what: string) => void,
): void {
  for (const name of BEYOND_CONTROL) connection.on(name, () => onLeak(name));
  connection.on('Network.webSocketFrameError', ({errorMessage}) => {
    if (HAD_A_SOCKET.test(errorMessage) && !errorMessage.includes('PROXY')) onLeak('a WebSocket');
  });
  connection.on('Network.responseReceived', ({response}) => {
    const {url, remoteIPAddress = '', connectionId} = response;
    // data:, blob: and the browser's own pages need no network.
    if (!/^https?:/i.test(url)) return;
    if (remoteIPAddress !== '' || connectionId !== 0) onLeak(`a response from ${hostOf(url)}`);
    else if (!wasAnswered(url)) onLeak(`an unasked response of ${hostOf(url)}`);
  });
}

function hostOf(url: string): string {
  return toUrl(url)?.host ?? 'an unknown host';
}
