/** Where a sandbox finds what belongs to the way out. */
export const EGRESS_MOUNT = '/run/forge-egress';
export const RELAY_SOCKET = `${EGRESS_MOUNT}/socket`;
export const TRUSTED_BUNDLE = `${EGRESS_MOUNT}/ca.pem`;
export const RELAY_NODE = `${EGRESS_MOUNT}/node`;

/** That of Squid, which programs know. Nothing else listens in a network that is empty. */
export const PROXY_PORT = 3128;

/** Its name among the processes of a sandbox. */
export const RELAY_NAME = 'forge-relay';

/**
 * The program of the relay: it copies bytes between the port that programs know how to use and the socket of the gate,
 * and is trusted with nothing. What comes down is read as `PieceReader` does. It says that it listens by closing its output.
 */
const RELAY = `
process.title = '${RELAY_NAME}';
const net = require('node:net');
const fs = require('node:fs');
const piece = () => Buffer.allocUnsafeSlow(262144);
const open = {allowHalfOpen: true, noDelay: true, highWaterMark: 262144};
const server = net.createServer(open, client => {
  const free = [];
  let current = piece();
  let underWay = 0;
  const callback = bytes => {
    const buffer = current;
    let waits = false;
    client.write(buffer.subarray(0, bytes), () => {
      if (!waits) return;
      underWay -= 1;
      free.push(buffer);
      if (gate.isPaused()) gate.resume();
    });
    if (client.writableLength === 0) return true;
    waits = true;
    underWay += 1;
    current = free.pop() ?? piece();
    if (underWay < 2) return true;
    gate.pause();
    return false;
  };
  const gate = net.connect({...open, path: '${RELAY_SOCKET}', onread: {buffer: () => current, callback}});
  const end = () => { client.destroy(); gate.destroy(); };
  client.on('error', end);
  gate.on('error', end);
  gate.once('end', () => client.end());
  gate.resume();
  client.pipe(gate);
});
server.listen(${PROXY_PORT}, '127.0.0.1', () => {
  fs.writeSync(1, 'ready');
  fs.closeSync(1);
  // libuv dies of a socket that gets the number of a standard stream.
  fs.openSync('/dev/null', 'w');
});
`;

/** Small: its memory and its threads are those of the command. */
const NODE_FLAGS = ['--v8-pool-size=0', '--max-old-space-size=64', '-e'];

/** A line for `START_RELAY`; `program` is Node with what comes before it. */
export function relayCommand(program: readonly string[]): string {
  const words = ['/usr/bin/env', '-i', ...program, ...NODE_FLAGS, RELAY];
  return words.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

/**
 * A shell function: starts the relay that its argument says, none if that is empty, and waits until it listens. Not a
 * child of the caller, whose `wait` and `jobs` are about the command alone. It holds no descriptor of the caller.
 */
export const START_RELAY = `
start_relay() {
  [ -n "$1" ] || return 0
  [ "$(eval "$1 </dev/null 2>/dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &")" = ready ]
}
`;
