import {readdirSync, readFileSync} from 'node:fs';
import {readTestTitles} from './read-test-titles.js';

/** The modules of src/ with their text, and the titles of all tests with their files. */
export function readProject(root) {
  const texts = ['src', 'test'].flatMap(folder =>
    readdirSync(new URL(folder, root), {recursive: true, encoding: 'utf8'})
      .map(name => `${folder}/${name}`)
      .filter(path => path.endsWith('.ts') && !path.includes('node_modules/'))
      .sort()
      .map(path => ({path, text: readFileSync(new URL(path, root), 'utf8')})),
  );
  const isTest = ({path}) => path.endsWith('.test.ts') || path.startsWith('test/contracts/');
  return {
    modules: texts.filter(({path}) => path.startsWith('src/') && !path.endsWith('.test.ts')),
    titles: texts
      .filter(isTest)
      .flatMap(({path, text}) => readTestTitles(text).map(title => ({path, title}))),
  };
}
