import type {CdpConnection} from '../cdp/cdp-connection.ts';

/** Everything that Chromium asks for from here on waits for an answer of ours; it downloads nothing. */
export function pauseRequests(connection: CdpConnection): void {
  void connection.send('Browser.setDownloadBehavior', {behavior: 'deny'});
  void connection.send('Fetch.enable', {patterns: [{urlPattern: '*'}]});
}
