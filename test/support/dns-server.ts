import {createSocket, type RemoteInfo} from 'node:dgram';

/** What a name is answered with. `silent` never answers. */
export type DnsReply =
  | {readonly a?: readonly string[] | 'servfail'; readonly aaaa?: readonly string[] | 'servfail'}
  | keyof typeof RCODES
  | 'silent';

/** A list is used up query by query, for A and AAAA apart, and its last reply stays: a name that rebinds. */
export type DnsZone = {readonly [name: string]: DnsReply | readonly DnsReply[]};

export interface DnsServer {
  /** `127.0.0.1:port`, as `dns.setServers` takes it. */
  readonly address: string;
  /** `name TYPE` of every query, in the order of arrival. */
  readonly queries: readonly string[];
  readonly close: () => Promise<void>;
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly type: number;
  /** The question section as it came, to be sent back. */
  readonly bytes: Buffer;
}

const TYPES: {readonly [type: number]: 'A' | 'AAAA'} = {1: 'A', 28: 'AAAA'};
const RCODES = {servfail: 2, nxdomain: 3, notimp: 4, refused: 5} as const;
const HEADER_BYTES = 12;

/** A real DNS server on a loopback UDP port. A name that the zone lacks does not exist. */
export async function startDnsServer(zone: DnsZone): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  const asked = new Map<string, number>();

  const onMessage = (message: Buffer, from: RemoteInfo): void => {
    const question = readQuestion(message);
    const key = `${question.name} ${TYPES[question.type] ?? question.type}`;
    queries.push(key);
    const count = asked.get(key) ?? 0;
    asked.set(key, count + 1);
    const entry = zone[question.name] ?? 'nxdomain';
    const current = isSequence(entry) ? (entry[Math.min(count, entry.length - 1)] ?? 'nxdomain') : entry;
    const reply = failureOf(question.type, current) ?? current;
    if (reply !== 'silent') socket.send(writeResponse(question, reply), from.port, from.address);
  };

  socket.on('message', onMessage);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    close: () => new Promise(resolve => socket.close(() => resolve())),
  };
}

function isSequence(entry: DnsReply | readonly DnsReply[]): entry is readonly DnsReply[] {
  return Array.isArray(entry);
}

/** RFC 1035 §4.1.2, one question. */
function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(HEADER_BYTES, at + 5),
  };
}

function writeResponse(question: Question, reply: Exclude<DnsReply, 'silent'>): Buffer {
  const addresses = typeof reply === 'string' ? [] : addressesFor(question.type, reply);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(question.id, 0);
  // A response, recursion desired and available.
  header.writeUInt16BE(0x8180 | (typeof reply === 'string' ? RCODES[reply] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map(data => {
    const record = Buffer.alloc(12);
    // The name is a pointer to the question.
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    record.writeUInt16BE(question.type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, question.bytes, ...records]);
}

function addressesFor(type: number, reply: Exclude<DnsReply, string>): readonly Buffer[] {
  const {a = [], aaaa = []} = reply;
  if (TYPES[type] === 'A' && a !== 'servfail') return a.map(ipv4Bytes);
  return TYPES[type] === 'AAAA' && aaaa !== 'servfail' ? aaaa.map(ipv6Bytes) : [];
}

/** A server that has trouble with one of the two questions only. */
function failureOf(type: number, reply: DnsReply): 'servfail' | undefined {
  if (typeof reply === 'string') return undefined;
  const own = TYPES[type] === 'A' ? reply.a : reply.aaaa;
  return own === 'servfail' ? own : undefined;
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map(group => group.padStart(4, '0')).join(''), 'hex');
}
