import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {leakedDescriptors} from './leaked-descriptors.ts';

/** proc(5): what a process has open, with the flags of each; none of one that is closed by now. */
function processWith(descriptors: Readonly<Record<number, string | undefined>>): string {
  const place = temporaryDirectory();
  for (const part of ['fd', 'fdinfo']) mkdirSync(join(place, part));
  for (const [descriptor, flags] of Object.entries(descriptors)) {
    writeFileSync(join(place, 'fd', descriptor), '');
    const info = `pos:\t7\n${flags}mnt_id:\t15\nino:\t9\n`;
    if (flags !== undefined) writeFileSync(join(place, 'fdinfo', descriptor), info);
  }
  return place;
}

test('policy: a child inherits what is not closed on exec, beside the standard streams', () => {
  const [open, closed] = ['flags:\t0100002\n', 'flags:\t02100002\n'];
  const place = processWith({0: open, 1: open, 2: open, 3: open, 4: closed, 5: undefined, 17: open, 18: ''});
  expect(leakedDescriptors(place).toSorted((a, b) => a - b)).toEqual([3, 17, 18]);
});

test('review B6: where the system does not list them there are none', () => {
  expect(leakedDescriptors(join(temporaryDirectory(), 'missing'))).toEqual([]);
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  expect(leakedDescriptors(file)).toEqual([]);
});

test('policy: what else keeps them from being listed is thrown', () => {
  const place = temporaryDirectory();
  symlinkSync('fd', join(place, 'fd'));
  expect(() => leakedDescriptors(place)).toThrow('ELOOP');
});
