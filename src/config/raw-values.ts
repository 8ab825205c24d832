// Checks values as TOML has them: names them in messages, expands paths, turns them into JSON.
import {isAbsolute, join, resolve} from 'node:path';
import type {Json} from '../core/result.ts';
import {editDistance} from '../core/text/nearest-name.ts';
import {type Environment, ownName} from './environment.ts';

const LONGEST = 60;

/** A raw value as an error message names it: `the string "20"`, `the integer 900`, `an array`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${JSON.stringify(cut(value))}`;
    case 'boolean':
      return `the boolean ${value}`;
    case 'bigint':
      return `the integer ${describeNumber(value)}`;
    case 'number':
      return `the ${Number.isInteger(value) ? 'integer' : 'number'} ${describeNumber(value)}`;
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'an array';
      return value instanceof Date ? 'a date' : 'a table';
    default:
      return `a value of type ${typeof value}`;
  }
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

export function describeNumber(value: bigint | number): string {
  return cut(String(value));
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

export type Surroundings = Pick<Environment, 'env' | 'cwd' | 'tempDir'> &
  Partial<Pick<Environment, 'homeDir'>>;

interface ExpandedPath {
  /** Absolute, or '' for "not set". */
  readonly path: string;
  readonly warning?: string;
}

/**
 * FR-WF-CFG-03, FR-WF-CFG-03a: `${NAME}` is replaced once, a relative path is resolved against the
 * working directory, a blank one is ''.
 */
export function expandPath(written: string, surroundings: Surroundings): ExpandedPath {
  const {env, cwd, tempDir} = surroundings;
  const missing: string[] = [];
  const expanded = written.replace(/\$\{([^{}]*)\}/g, (_, name: string) => {
    if (name === 'XDG_CACHE_HOME') return userCacheDirectory(surroundings);
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

/** Ruling H5. A relative one would lie in the directory that we were started in, which may be a repository. */
function userCacheDirectory({env, homeDir = '', tempDir}: Surroundings): string {
  const known = [env['XDG_CACHE_HOME'], process.platform === 'win32' ? env['LOCALAPPDATA'] : undefined];
  const named = known.find(path => path !== undefined && isAbsolute(path));
  return (
    named ?? (isAbsolute(homeDir) ? join(homeDir, '.cache') : join(tempDir, ownName('forge-tools-cache')))
  );
}

/** Longer keys are compared by their beginning; no known key is half as long. */
const COMPARED = 64;

/**
 * The known key (a dotted path) that was most likely meant by an unknown one: the closest name,
 * in the same section rather than in another one, the first of equals.
 */
export function nearestKey(unknown: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const elsewhere = parentOf(candidate) === parentOf(unknown) ? 0 : 1;
    const distance = editDistance(nameOf(unknown), nameOf(candidate)) + elsewhere;
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).slice(0, COMPARED);
}

/** Deeper than any schema that a person writes. */
const DEEPEST = 64;

/** A raw value as frozen JSON; `undefined` where JSON cannot say it (a date, NaN, an integer beyond 2^53). */
export function toJson(value: unknown, depth = 0): Json | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
  if (depth === DEEPEST) return undefined;
  if (Array.isArray(value)) {
    const list = value.flatMap((entry: unknown) => {
      const json = toJson(entry, depth + 1);
      return json === undefined ? [] : [json];
    });
    return list.length === value.length ? Object.freeze(list) : undefined;
  }
  if (!isTable(value)) return undefined;
  const entries: [string, Json][] = [];
  for (const [key, entry] of Object.entries(value)) {
    const json = toJson(entry, depth + 1);
    if (json === undefined) return undefined;
    entries.push([key, json]);
  }
  return Object.freeze(Object.fromEntries(entries));
}

/** What is collected on the way through a raw configuration, in the order of the schema. */
export interface Findings {
  /** Something else than what was written is used. */
  readonly warnings: string[];
  /** Start-up stops (ruling A9). */
  readonly problems: string[];
}
