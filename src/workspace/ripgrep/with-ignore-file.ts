import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {randomHex} from '../../core/random.ts';
import type {Result} from '../../core/result.ts';
import type {IgnoreRules} from '../glob/ignore-rules.ts';
import {attempt} from '../io-failure.ts';
import type {Ripgrep} from './run-ripgrep.ts';

/**
 * W4: the arguments with which ripgrep goes through hidden files, but never `.git`, and through no others that
 * the rules ignore. They come in a file of ours; of those in the workspace it opens none.
 */
export async function withIgnoreFile<Value>(
  {scratchDirectory}: Ripgrep,
  rules: IgnoreRules,
  work: (args: readonly string[]) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const text = rules.asOneFile();
  // The last glob that fits counts, so that none brings `.git` back.
  const args = ['--hidden', '--no-ignore', '--iglob=!.git'];
  if (text === '') return work(args);
  const path = join(scratchDirectory, `ignore-${randomHex(8)}`);
  try {
    const written = await attempt(path, 'write', async () => {
      await mkdir(scratchDirectory, {recursive: true, mode: 0o700});
      await writeFile(path, text, {flag: 'wx', mode: 0o600});
    });
    return written.ok ? await work([...args, `--ignore-file=${path}`]) : written;
  } finally {
    // One that stays is no reason to keep what was found.
    await attempt(path, 'remove', () => rm(path, {force: true}));
  }
}
