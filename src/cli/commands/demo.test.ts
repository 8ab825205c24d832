import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {runCliHere} from '../../../test/support/run-cli-here.ts';

test.each([
  ['a person who looks at a desktop', [] as string[], true],
  ['a program that reads', undefined, false],
])(
  'policy: at its end the demo opens the report for %s: %s',
  {tags: 'slow'},
  async (_, answers, isOpened) => {
    const home = mkdtempSync(join(tmpdir(), 'forge-demo-test-'));
    onTestFinished(() => rmSync(home, {recursive: true, force: true}));
    const opened: string[] = [];
    const {stdout} = await runCliHere(['demo'], {
      cwd: home,
      homeDir: join(home, 'home'),
      tempDir: home,
      ...(answers === undefined ? {} : {answers}),
      services: {
        showFile: async file => {
          opened.push(file);
          return true;
        },
      },
    });
    const left = /^Nothing else is left behind than (.*)\.$/m.exec(stdout)?.[1] ?? '';
    expect(readdirSync(home)).toEqual([basename(left)]);
    const blocked = /^(\d+) things were blocked:/m.exec(stdout)?.[1];
    const report = readFileSync(join(left, 'report.html'), 'utf8');
    expect(report.match(/"state":"refused"/g)).toHaveLength(Number(blocked));
    expect(opened).toEqual(isOpened ? [join(left, 'report.html')] : []);
    expect(stdout.includes('It is opened in your browser.')).toBe(isOpened);
  },
);
