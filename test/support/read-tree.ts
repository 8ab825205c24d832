import {lstatSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/** Everything below a directory: path → mode and content of a file, `directory`, or `other`. */
export function readTree(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(root, {recursive: true, encoding: 'utf8'}).sort()) {
    const path = join(root, name);
    const info = lstatSync(path);
    if (info.isFile()) found[name] = `${(info.mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`;
    else found[name] = info.isDirectory() ? 'directory' : 'other';
  }
  return found;
}
