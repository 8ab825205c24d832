import {existsSync} from 'node:fs';
import {expect, test} from 'vitest';
import {packageFile} from './package-file.ts';

test.each(['package.json', 'vocabulary/cl100k_base.bin', 'dist/bin/worker.js', 'demo/site/robots.txt'])(
  'packageFile finds %s, whatever the working directory is',
  path => {
    expect(packageFile(path).pathname.endsWith(`/${path}`)).toBe(true);
    expect(existsSync(packageFile(path))).toBe(true);
  },
);
