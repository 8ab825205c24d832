import type {Socket} from 'node:net';

/**
 * Waits until a socket is `connect`ed or `secureConnect`ed. Gives the error if that does not come
 * to be; when the signal aborts, the socket is destroyed first.
 */
export function awaitSocket(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Error | undefined> {
  return new Promise(resolve => {
    const settle = (error?: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onReady).off('error', onError).off('close', onClose);
      resolve(error);
    };
    const onReady = (): void => settle();
    const onError = (error: Error): void => settle(error);
    const onClose = (): void => settle(Object.assign(new Error('closed'), {code: 'ECONNRESET'}));
    const onAbort = (): void => {
      socket.destroy();
    };
    socket.on(event, onReady).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort, {once: true});
    if (signal.aborted) socket.destroy();
    if (socket.closed) onClose();
  });
}
