// A name server of the test's own, over UDP and TCP, that answers as its zone says: also with what is no answer.
import {createSocket} from 'node:dgram';
import {createServer} from 'node:net';

const TYPES = {1: 'a', 28: 'aaaa'};
const RCODES = {servfail: 2, nxdomain: 3, notimp: 4, refused: 5};
const HEADER_BYTES = 12;
/** What a question without EDNS may be answered with over UDP. */
const UDP_BYTES = 512;
const DRIP_MS = 50;

/** @param zone name → answers, used up query by query for each type; the last one stays */
export async function startHostileDnsServer(zone, domain, address) {
  const queries = [];
  const asked = new Map();

  const next = question => {
    const key = `${question.name} ${question.type}`;
    const count = asked.get(key) ?? 0;
    asked.set(key, count + 1);
    const answers = zone[question.name.replace(`.${domain}`, '')] ?? ['nxdomain'];
    return answers[Math.min(count, answers.length - 1)];
  };

  const udp = createSocket('udp4');
  udp.on('message', (message, from) => {
    const question = readQuestion(message);
    queries.push(`udp ${question.name} ${TYPES[question.type] ?? question.type}`);
    const answer = next(question);
    if (answer === 'silent') return;
    const whole = writeMessage(question, answer, domain);
    const cut = whole.length > UDP_BYTES && typeof answer === 'object' && !answer.spoil;
    const truncated = answer.truncate ?? (cut ? 'always' : undefined);
    const bytes = truncated === undefined ? whole : truncate(question, whole, truncated);
    // The query over TCP that follows is about the same answer.
    if (truncated !== undefined) waiting.set(`${question.name} ${question.type}`, answer);
    udp.send(bytes, from.port, from.address, () => {});
  });

  const waiting = new Map();
  const sockets = new Set();
  const tcp = createServer(socket => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    socket.on('data', bytes => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const length = received.readUInt16BE(0);
        const question = readQuestion(received.subarray(2, 2 + length));
        received = received.subarray(2 + length);
        queries.push(`tcp ${question.name} ${TYPES[question.type] ?? question.type}`);
        const answer = waiting.get(`${question.name} ${question.type}`) ?? next(question);
        answerOverTcp(socket, question, answer, domain);
      }
    });
  });

  await new Promise(resolve => udp.bind(53, address, resolve));
  await new Promise(resolve => tcp.listen(53, address, resolve));
  return {
    queries,
    close: async () => {
      udp.close();
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => tcp.close(resolve));
    },
  };
}

function answerOverTcp(socket, question, answer, domain) {
  const {tcp = answer} = answer;
  if (tcp === 'silent') return;
  if (tcp === 'close') {
    socket.end();
    return;
  }
  const message = writeMessage(question, typeof tcp === 'string' ? answer : tcp, domain);
  const framed = Buffer.concat([uint16(message.length), message]);
  if (tcp === 'announce') socket.write(Buffer.concat([uint16(65_535), message]));
  else if (tcp === 'drip') {
    const bytes = [...framed];
    const timer = setInterval(() => {
      const byte = bytes.shift();
      if (byte === undefined || socket.destroyed) clearInterval(timer);
      else socket.write(Buffer.of(byte));
    }, DRIP_MS);
  } else socket.write(framed);
}

/** RFC 1035 §4.1.2, one question. */
function readQuestion(message) {
  const labels = [];
  let at = HEADER_BYTES;
  for (let length = message[at]; length > 0; length = message[at]) {
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

function truncate(question, whole, how) {
  const kept = how === 'partly' ? Buffer.from(whole) : header(question, 0, 0);
  const bytes = how === 'partly' ? kept : Buffer.concat([kept, question.bytes]);
  bytes.writeUInt16BE(bytes.readUInt16BE(2) | 0x0200, 2);
  return bytes;
}

function writeMessage(question, answer, domain) {
  if (typeof answer === 'string') {
    return Buffer.concat([header(question, RCODES[answer], 0), question.bytes]);
  }
  const own = TYPES[question.type];
  if (answer.other !== undefined && own === 'aaaa') {
    return Buffer.concat([header(question, RCODES[answer.other], 0), question.bytes]);
  }
  if (answer.spoil !== undefined && own === 'a') return spoil(question, answer, domain);
  const ttl = answer.ttl ?? 60;
  const aliases = (answer.cname ?? []).map(name => writeName(`${name}.${domain}`));
  const owners = [Buffer.of(0xc0, HEADER_BYTES), ...aliases];
  const records = aliases.map((target, index) => record(owners[index], 5, ttl, target));
  const last = owners.at(-1);
  for (const text of answer[own] ?? []) {
    records.push(record(last, question.type, ttl, own === 'a' ? ipv4(text) : ipv6(text)));
  }
  return Buffer.concat([header(question, 0, records.length), question.bytes, ...records]);
}

function header({id}, rcode, answers, flags = 0x8180) {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(flags | rcode, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(answers, 6);
  return bytes;
}

function record(owner, type, ttl, data, {length = data.length, recordClass = 1} = {}) {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(recordClass, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(length, 8);
  return Buffer.concat([owner, fixed, data]);
}

/** An answer with the right address in it, and one thing wrong. */
function spoil(question, {a: [address], spoil: how}, domain) {
  const own = Buffer.of(0xc0, HEADER_BYTES);
  const data = ipv4(address);
  const whole = (answer, head = header(question, 0, 1), asked = question.bytes) =>
    Buffer.concat([head, asked, answer]);
  const good = record(own, 1, 60, data);
  const ahead = HEADER_BYTES + question.bytes.length;
  switch (how) {
    case 'another-name':
      return whole(record(writeName(`victim.${domain}`), 1, 60, data));
    case 'another-type':
      return whole(record(own, 16, 60, data));
    case 'another-class':
      return whole(record(own, 1, 60, data, {recordClass: 3}));
    case 'another-id':
      return whole(good, header({id: question.id ^ 1}, 0, 1));
    case 'another-question': {
      const asked = Buffer.concat([writeName(`victim.${domain}`), question.bytes.subarray(-4)]);
      return whole(good, header(question, 0, 1), asked);
    }
    case 'no-question': {
      const head = header(question, 0, 1);
      head.writeUInt16BE(0, 4);
      return whole(record(writeName(question.name), 1, 60, data), head, Buffer.alloc(0));
    }
    case 'a-query':
      return whole(good, header(question, 0, 1, 0x0100));
    case 'three-bytes-of-address':
      return whole(record(own, 1, 60, data.subarray(1)));
    case 'five-bytes-of-address':
      return whole(record(own, 1, 60, Buffer.concat([data, data.subarray(3)])));
    case 'no-bytes-of-address':
      return whole(record(own, 1, 60, Buffer.alloc(0)));
    case 'length-beyond-the-end':
      return whole(record(own, 1, 60, data, {length: 60_000}));
    case 'count-beyond-the-end':
      return Buffer.concat([header(question, 0, 9), question.bytes]);
    case 'name-points-to-itself':
      return whole(record(Buffer.of(0xc0 | (ahead >> 8), ahead & 255), 1, 60, data));
    case 'name-points-ahead':
      return whole(record(Buffer.of(0xc0 | ((ahead + 2) >> 8), (ahead + 2) & 255), 1, 60, data));
    case 'label-of-64':
      return whole(record(Buffer.concat([Buffer.of(64), Buffer.alloc(64, 'x'), Buffer.of(0)]), 1, 60, data));
    case 'name-of-300':
      return whole(record(writeName(Array(75).fill('abc').join('.')), 1, 60, data));
    case 'half-a-header':
      return whole(good).subarray(0, 6);
    case 'nothing':
      return Buffer.alloc(0);
    case 'noise':
      return Buffer.concat([uint16(question.id), Buffer.alloc(500, 0xff)]);
    case 'extra-records-only': {
      const head = header(question, 0, 0);
      head.writeUInt16BE(1, 10);
      return whole(good, head);
    }
    default:
      throw new Error(`Nobody knows how to spoil by ${how}.`);
  }
}

const uint16 = value => Buffer.of(value >> 8, value & 255);
const ipv4 = text => Buffer.from(text.split('.').map(Number));

function ipv6(text) {
  const [head, tail] = text.split('::');
  const groups = part => (part ? part.split(':') : []);
  const before = groups(head);
  const after = groups(tail);
  const zeros = tail === undefined ? [] : Array(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map(group => group.padStart(4, '0')).join(''), 'hex');
}

function writeName(name) {
  const labels = name.split('.').map(label => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}
