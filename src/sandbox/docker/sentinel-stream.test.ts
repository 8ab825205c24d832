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
  stream.finish();
  return {text, reporter, started: stream.started, exitCode: stream.exitCode, words: stream.words};
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
        expect(read(chunks)).toEqual({
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
