import {PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {CdpConnection} from './cdp-connection.ts';
import type {NavigatedFrame} from './cdp-protocol.ts';

function connect() {
  const input = new PassThrough();
  const output = new PassThrough();
  return {input, output, connection: new CdpConnection(input, output)};
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve));

describe('DevTools protocol over pipes', () => {
  test('commands are JSON and NUL, and answers find them in any order', async () => {
    const {input, output, connection} = connect();
    const first = connection.send('Browser.getVersion', {});
    const second = connection.send('Target.closeTarget', {targetId: 't'}, 'S');
    expect(String(input.read())).toBe(
      '{"id":1,"method":"Browser.getVersion","params":{}}\0' +
        '{"id":2,"method":"Target.closeTarget","params":{"targetId":"t"},"sessionId":"S"}\0',
    );
    output.write('{"id":2,"error":{"message":"No target"}}\0{"id":1,"result":{"product":"C/1"}}\0');
    expect(await first).toEqual({ok: true, value: {product: 'C/1'}});
    expect(await second).toEqual({ok: false, error: 'No target'});
  });

  test('messages may be cut anywhere, inside a character too', async () => {
    const {output, connection} = connect();
    const seen: NavigatedFrame[] = [];
    connection.on('Page.frameNavigated', params => seen.push(params));
    const params = {frame: {id: 'é€😀', url: 'u'}};
    const bytes = Buffer.from(`${JSON.stringify({method: 'Page.frameNavigated', params})}\0`.repeat(2));
    for (const byte of bytes) output.write(Buffer.from([byte]));
    await settled();
    expect(seen).toEqual([params, params]);
  });

  test('an end of the pipe ends what waits, and later commands at once', async () => {
    const {output, connection} = connect();
    const waiting = connection.send('Page.enable', {});
    output.destroy();
    expect(await waiting).toEqual({ok: false, error: 'closed'});
    expect(await connection.send('Page.enable', {})).toEqual({ok: false, error: 'closed'});
  });

  test.each(['nonsense\0', 'null\0', '7\0'])('what is no message ends the connection: %j', async text => {
    const {output, connection} = connect();
    const waiting = connection.send('Page.enable', {});
    output.write(text);
    expect(await waiting).toEqual({ok: false, error: 'closed'});
  });

  test('nothing is heard after close, not even what came in the same piece', async () => {
    const {output, connection} = connect();
    let heard = 0;
    connection.on('Page.domContentEventFired', () => {
      heard += 1;
      connection.close();
    });
    output.write('{"method":"Page.domContentEventFired","params":{}}\0'.repeat(3));
    await settled();
    expect(heard).toBe(1);
  });

  test('review B12: what a listener throws ends the connection, not the process', async () => {
    const {output, connection} = connect();
    connection.on('Page.frameNavigated', ({frame}) => void new URL(frame.url));
    const waiting = connection.send('Page.enable', {});
    output.write('{"method":"Page.frameNavigated","params":{"frame":{"id":"f","url":":"}}}\0');
    expect(await waiting).toEqual({ok: false, error: 'closed'});
    await connection.closed;
  });

  test('review B12: a message above 256 MiB ends the connection before it is a text', async () => {
    const {output, connection} = connect();
    const waiting = connection.send('Page.enable', {});
    const part = Buffer.alloc(32 * 1024 * 1024, 0x20);
    for (let at = 0; at < 9; at += 1) {
      output.write(part);
      await settled();
    }
    expect(await waiting).toEqual({ok: false, error: 'closed'});
  });
});
