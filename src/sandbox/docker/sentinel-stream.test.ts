import fc from 'fast-check';
import {expect, test} from 'vitest';
import {SentinelStream} from './sentinel-stream.ts';

const SENTINEL = '0123456789abcdef';

function read(chunks: readonly string[]) {
  let text = '';
  let reporter: number | undefined;
  const stream = new SentinelStream(
    SENTINEL,
    chunk => {
      text += chunk.toString('latin1');
    },
    by => {
      reporter = by;
    },
  );
  for (const chunk of chunks) stream.write(Buffer.from(chunk, 'latin1'));
  const passed = text;
  stream.finish();
  return {
    passed,
    jobs: stream.jobs,
    text,
    reporter,
    started: stream.started,
    exitCode: stream.exitCode,
    words: stream.words,
  };
}

test('policy: what is between the marks and after them is the output, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.string({maxLength: 60}),
      fc.string({maxLength: 20}),
      fc.array(fc.integer({min: 1, max: 30})),
      (inside, after, cuts) => {
        const latin = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
        let whole = `${SENTINEL}${latin(inside)}${SENTINEL}137 42 [1] + Killed;${latin(after)}`;
        const chunks: string[] = [];
        for (const cut of cuts) {
          chunks.push(whole.slice(0, cut));
          whole = whole.slice(cut);
        }
        chunks.push(whole);
        expect(read(chunks)).toMatchObject({
          jobs: ['[1] + Killed'],
          passed: latin(inside) + latin(after),
          text: latin(inside) + latin(after),
          reporter: 42,
          started: true,
          exitCode: 137,
          words: '',
        });
      },
    ),
  );
});

test('policy: without the mark nothing was started, and the words say why', () => {
  expect(read(['Error: No such ', 'container'])).toMatchObject({
    started: false,
    words: 'Error: No such container',
    text: '',
  });
});

test('policy: a command that was killed has no exit code of its own', () => {
  expect(read([`${SENTINEL}abc`])).toMatchObject({started: true, exitCode: undefined, text: 'abc'});
});

test('policy: a command that writes the mark itself gets its output and no say', () => {
  const forged = read([`${SENTINEL}${SENTINEL}no report at all, but text`, 'more', `${SENTINEL}0 1 ;`]);
  expect(forged).toMatchObject({exitCode: undefined, reporter: undefined});
  expect(forged.text).toContain('no report at all, but textmore');
});

test('policy: of the words that come instead of the mark 4096 bytes are kept', () => {
  expect(read(['x'.repeat(5000), 'y']).words).toBe('x'.repeat(4096));
  expect(read([SENTINEL.slice(0, 15)])).toMatchObject({started: false, words: SENTINEL.slice(0, 15)});
  expect(read([`x${SENTINEL}`])).toMatchObject({started: false, words: `x${SENTINEL}`});
});

test('policy: what a command wrote goes on at once, but for what may be the beginning of a mark', () => {
  expect(read([`${SENTINEL}${'a'.repeat(20)}`]).passed).toBe('a'.repeat(5));
  expect(read([SENTINEL, 'b', 'c'.repeat(14)]).passed).toBe('');
  expect(read([SENTINEL, 'b', 'c'.repeat(15)]).passed).toBe('b');
  expect(read([`${SENTINEL}a${SENTINEL}7 `])).toMatchObject({passed: 'a', text: `a${SENTINEL}7 `, jobs: []});
});

test.each(['', '1', '137', '137 ', '1 1', '1 1234567890', '1 1 ', `1 1 ${'j'.repeat(507)}`])(
  'policy: behind a mark, %j may become a report',
  behind => {
    expect(read([`${SENTINEL}a${SENTINEL}${behind}`])).toMatchObject({
      ...{passed: 'a', text: `a${SENTINEL}${behind}`, exitCode: undefined, reporter: undefined},
    });
  },
);

test.each([
  'x',
  'x1',
  '1x',
  '1234',
  '1 x',
  '1  ',
  'x1 1',
  'x1 1 ;',
  '1 12345678901',
  '1 1x',
  '1 1;',
  `1 1 ${'j'.repeat(508)}`,
])('policy: behind a mark, %j is none, and a mark that comes later neither', behind => {
  const text = `a${SENTINEL}${behind}`;
  expect(read([`${SENTINEL}${text}`])).toMatchObject({passed: text, exitCode: undefined, jobs: []});
  expect(read([`${SENTINEL}${text}`, `b${SENTINEL}0 1 ;`])).toMatchObject({
    ...{passed: `${text}b${SENTINEL}0 1 ;`, exitCode: undefined, reporter: undefined},
  });
});

test('policy: the report says the code, who reports, and each line of the jobs', () => {
  expect(read([`${SENTINEL}a${SENTINEL}0 1234567890 x\n[1] + Done;b;`])).toEqual({
    ...{passed: 'ab;', text: 'ab;', started: true, words: ''},
    ...{exitCode: 0, reporter: 1_234_567_890, jobs: ['x', '[1] + Done']},
  });
  expect(read([`${SENTINEL}${SENTINEL}255 2 ;`])).toMatchObject({exitCode: 255, reporter: 2, jobs: ['']});
});
