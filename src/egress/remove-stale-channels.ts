import {closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync} from 'node:fs';
import {connect} from 'node:net';
import {join} from 'node:path';
import {errorCode} from '../system/error-code.ts';

/** What `mkdtemp` makes of the prefix. */
const CHANNEL = /^forge-egress-[A-Za-z0-9]{6}$/;
/** Of a place that another program filled. */
const MOST_LOOKED_AT = 1000;

/**
 * Review R14: the directories of hosts that were killed. One whose socket nobody listens on has no owner any more.
 * What lies in it is reached by a handle, so that a link in its place leads nowhere.
 */
export async function removeStaleChannels(place: string): Promise<void> {
  const names = quietly(() => readdirSync(place)) ?? [];
  for (const name of names.filter(one => CHANNEL.test(one)).slice(0, MOST_LOOKED_AT)) {
    const directory = join(place, name);
    const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
    const descriptor = quietly(() => openSync(directory, flags));
    if (descriptor === undefined) continue;
    try {
      const socket = `/proc/self/fd/${descriptor}/s`;
      const isSocket = quietly(() => lstatSync(socket).isSocket()) === true;
      if (!isSocket || !(await isDead(socket))) continue;
      quietly(() => unlinkSync(socket));
      quietly(() => rmdirSync(directory));
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Only a refusal says so: a directory without a socket may be one that is being made. */
function isDead(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({path});
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', error => resolve(errorCode(error) === 'ECONNREFUSED'));
  });
}

/** Of another user, or gone meanwhile: left to its owner. */
function quietly<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
