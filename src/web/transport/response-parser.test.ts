import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {ResponseParser} from './response-parser.ts';

interface Seen {
  readonly status: number | undefined;
  readonly body: string;
  readonly outcome: string;
}

/** What the parser reports for a message that comes in these parts. */
function parse(parts: readonly string[], method: 'GET' | 'HEAD' = 'GET', end = false): Seen {
  let status: number | undefined;
  let body = '';
  let outcome = 'incomplete';
  const parser = new ResponseParser(method, {
    onHead: head => {
      status = head.status;
    },
    onData: bytes => {
      body += bytes.toString('latin1');
    },
    onComplete: reusable => {
      outcome = reusable ? 'reusable' : 'complete';
    },
  });
  for (const part of parts) {
    const error = parser.push(Buffer.from(part, 'latin1'));
    if (error !== undefined) return {status, body, outcome: error};
  }
  const error = end ? parser.end() : undefined;
  return {status, body, outcome: error ?? outcome};
}

function cut(message: string, places: readonly number[]): string[] {
  const cuts = [...new Set([0, ...places.map(place => place % message.length), message.length])].sort(
    (a, b) => a - b,
  );
  return cuts.slice(1).map((to, index) => message.slice(cuts[index], to));
}

const OK = 'HTTP/1.1 200 OK\r\n';
const MESSAGES: readonly string[] = [
  `${OK}Content-Length: 5\r\n\r\nhello`,
  `${OK}Transfer-Encoding: chunked\r\n\r\n5;a="b"\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n`,
  `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`,
  `${OK}Content-Length: 2\r\n\r\nhi!`,
  `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX`,
  `${OK}Transfer-Encoding: chunked\r\n\r\n5\nhello`,
  `${OK}A: b\r\n c\r\n\r\n`,
  `${OK}A: b\nC: d\r\n\r\n`,
  `${OK}A: ${'x'.repeat(70_000)}\r\n\r\n`,
  `${OK}${'A: b\r\n'.repeat(300)}\r\n`,
  'SSH-2.0-OpenSSH_9.2\r\n',
  '\r\nHTTP/1.1 200 OK\r\n\r\n',
];

describe('ResponseParser', () => {
  test.each(MESSAGES.map((message, index) => [index, message] as const))(
    'RFC 9112 message %i means the same however its bytes are cut',
    (_index, message) => {
      const whole = parse([message], 'GET', true);
      const places = fc.array(fc.nat(message.length - 1), {maxLength: 12});
      fc.assert(
        fc.property(places, at => {
          const parts = parse(cut(message, at), 'GET', true);
          expect(parts.status).toBe(whole.status);
          // What comes too much in the same read ends the connection in either way.
          expect(parts.outcome.replace('reusable', 'complete')).toBe(
            whole.outcome.replace('reusable', 'complete'),
          );
          if (/complete|reusable/.test(whole.outcome)) expect(parts.body).toBe(whole.body);
        }),
        {numRuns: 60},
      );
      if (message.length < 2000) {
        expect(parse([...message], 'GET', true).status).toBe(whole.status);
      }
    },
  );

  test('RFC 9112 §7.1 any body in any chunks comes out whole', () => {
    const chunks = fc.array(fc.string({minLength: 1, maxLength: 40, unit: 'binary-ascii'}), {maxLength: 20});
    fc.assert(
      fc.property(chunks, fc.array(fc.nat()), (parts, places) => {
        const coded = parts.map(part => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
        const message = `${OK}Transfer-Encoding: chunked\r\n\r\n${coded}0\r\n\r\n`;
        const seen = parse(cut(message, places));
        expect(seen).toEqual({status: 200, body: parts.join(''), outcome: 'reusable'});
      }),
    );
  });

  test('policy: no input makes the parser throw', () => {
    const starts = fc.constantFrom('', 'HTTP/1.1 200 OK\r\n', `${OK}Transfer-Encoding: chunked\r\n\r\n`);
    fc.assert(
      fc.property(starts, fc.array(fc.string({unit: 'binary-ascii'})), (start, parts) => {
        parse([start, ...parts], 'GET', true);
      }),
      {numRuns: 300},
    );
  });

  test('policy: a body in chunks of one byte costs one output for one input, in linear time', () => {
    let outputs = 0;
    let bytes = 0;
    const parser = new ResponseParser('GET', {
      onHead: () => {},
      onData: data => {
        outputs += 1;
        bytes += data.length;
      },
      onComplete: () => {},
    });
    parser.push(Buffer.from(`${OK}Transfer-Encoding: chunked\r\n\r\n`));
    const piece = '1\r\nx\r\n'.repeat(10_000);
    for (let index = 0; index < 20; index += 1) parser.push(Buffer.from(piece));
    expect(bytes).toBe(200_000);
    expect(outputs).toBe(20);
  });

  test('policy: a header block that comes byte by byte costs linear time', () => {
    const message = Buffer.from(`${OK}${'A:b\r\n'.repeat(12_000)}`);
    const parser = new ResponseParser('HEAD', {onHead: () => {}, onData: () => {}, onComplete: () => {}});
    const start = performance.now();
    for (let at = 0; at < message.length; at += 1) {
      if (parser.push(message.subarray(at, at + 1)) !== undefined) throw new Error(`Refused at byte ${at}.`);
    }
    // Some 30 ms; many seconds, if every byte had the whole block searched again.
    expect(performance.now() - start).toBeLessThan(3000);
  });

  test.each([
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', 'reusable'],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n', 'complete'],
    ['HEAD', `${OK}Content-Length: 10\r\n\r\n`, 'complete'],
    ['HEAD', `${OK}\r\n`, 'reusable'],
    ['GET', `${OK}Content-Length: 0\r\nConnection: foo, CLOSE\r\n\r\n`, 'complete'],
    ['GET', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', 'complete'],
    ['GET', `${OK}Content-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello`, 'reusable'],
    ['GET', `${OK}Content-Length: 2\r\n\r\nhi surplus`, 'complete'],
  ] as const)('RFC 9112 §6.3 %s %j is %s', (method, message, outcome) => {
    expect(parse([message], method).outcome).toBe(outcome);
  });

  test('policy: a reason phrase is short ASCII', () => {
    let statusText = '';
    const parser = new ResponseParser('GET', {
      onHead: head => {
        statusText = head.statusText;
      },
      onData: () => {},
      onComplete: () => {},
    });
    parser.push(Buffer.from(`HTTP/1.1 200 \x9b\xe9${'a'.repeat(500)}\r\n\r\n`, 'latin1'));
    expect(statusText).toBe(`??${'a'.repeat(98)}`);
  });
});
