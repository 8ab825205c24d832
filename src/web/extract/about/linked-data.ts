import {SourceText} from '../tree/source-text.ts';
import {closingTag} from './head-elements.ts';

/** What JSON-LD says of the document that holds it, as it is written there. */
export interface LinkedData {
  readonly author?: string;
  readonly published?: string;
  readonly site?: string;
}

const MARK = 'application/ld+json';
const MOST_SCRIPTS = 8;
const LONGEST_TAG = 512;
const MOST_UNITS = 131_072;
/** Objects that are looked at, and how deep. */
const MOST_OBJECTS = 256;
const DEEPEST = 4;
const MOST_AUTHORS = 4;

interface Node {
  readonly [key: string]: unknown;
}

/** The first object that has an author, a date or a publisher; the name of a `WebSite` stands for the latter. */
export function linkedData(html: string | SourceText): LinkedData {
  const source = SourceText.of(html);
  let from = 0;
  let found: LinkedData = {};
  for (let scripts = 0; scripts < MOST_SCRIPTS; scripts += 1) {
    const mark = source.units.indexOf(MARK, from);
    if (mark === -1) break;
    from = mark + MARK.length;
    if (!source.from(from, LONGEST_TAG).includes('>')) continue;
    const behind = source.from(source.units.indexOf('>', from) + 1, MOST_UNITS - 1);
    const end = closingTag(behind, 'script', 0);
    if (end === -1) continue;
    found = {...dataOf(behind.slice(0, end)), ...found};
  }
  return found;
}

function dataOf(json: string): LinkedData {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // A page is not refused for what it says about itself.
    return {};
  }
  const nodes: Node[] = [];
  collect(value, nodes, 0);
  const article = nodes.find(node => node['datePublished'] !== undefined || node['author'] !== undefined);
  const website = nodes.find(node => typesOf(node).includes('WebSite'));
  const authors = namesOf(article?.['author'], nodes);
  const site = namesOf(article?.['publisher'], nodes)[0] ?? textOf(website?.['name']);
  const published = textOf(article?.['datePublished']);
  return {
    ...(authors.length > 0 && {author: authors.slice(0, MOST_AUTHORS).join(', ')}),
    ...(published !== undefined && {published}),
    ...(site !== undefined && {site}),
  };
}

/** The objects that stand for things of their own: at the top, in lists and in graphs. */
function collect(value: unknown, nodes: Node[], depth: number): void {
  if (depth > DEEPEST || nodes.length >= MOST_OBJECTS || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const one of value.slice(0, MOST_OBJECTS)) collect(one, nodes, depth + 1);
    return;
  }
  const node: Node = {...value};
  nodes.push(node);
  for (const key of ['@graph', 'mainEntity', 'mainEntityOfPage']) collect(node[key], nodes, depth + 1);
}

function typesOf(node: Node): readonly unknown[] {
  const type = node['@type'];
  return Array.isArray(type) ? type : [type];
}

/** Names of people or organisations: texts, objects with a name, or references to such. */
function namesOf(value: unknown, nodes: readonly Node[]): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value.slice(0, MOST_AUTHORS) : [value];
  return values.flatMap(one => {
    if (typeof one === 'string') return [one];
    if (typeof one !== 'object' || one === null) return [];
    const node: Node = {...one};
    const id = node['@id'];
    const named = node['name'] ?? nodes.find(other => id !== undefined && other['@id'] === id)?.['name'];
    return textOf(named) ?? [];
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
