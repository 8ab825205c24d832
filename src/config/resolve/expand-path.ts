import {resolve} from 'node:path';
import type {Environment} from '../environment.ts';

export type Surroundings = Pick<Environment, 'env' | 'cwd' | 'tempDir'>;

interface ExpandedPath {
  /** Absolute, or '' for "not set". */
  readonly path: string;
  readonly warning?: string;
}

/**
 * FR-WF-CFG-03, FR-WF-CFG-03a: `${NAME}` is replaced once, a relative path is resolved against the
 * working directory, a blank one is ''.
 */
export function expandPath(written: string, {env, cwd, tempDir}: Surroundings): ExpandedPath {
  const missing: string[] = [];
  const expanded = written.replace(/\$\{([^{}]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && value.trim() !== '') return value;
    // Ruling F5
    if (name === 'TEMP') return tempDir;
    missing.push(name);
    return '';
  });
  if (missing.length > 0) {
    // What is left of "${CACHE}/pages" would be a directory at the root of the file system.
    const names = missing.map(name => `\${${name}}`).join(', ');
    return {path: '', warning: `uses ${names}, which the environment does not set; it counts as empty`};
  }
  if (expanded.trim() === '') return {path: ''};
  const path = resolve(cwd, expanded);
  if (!/^~(?:[/\\]|$)/.test(expanded)) return {path};
  return {path, warning: `starts with "~", which is not expanded; ${path} is used. Write \${HOME} instead`};
}
