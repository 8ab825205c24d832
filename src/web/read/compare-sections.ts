// Compares the sections of a document with those of an earlier snapshot.

import {segmentsOf} from './markdown-syntax.ts';
import {type PageSection, sectionsOf} from './readable-page.ts';
import type {Changes, SectionChange} from './reading.ts';

/** As many sections as an answer names; the rest is counted. */
const MOST_NAMED = 30;

interface Part {
  readonly section: PageSection;
  /** Headings from the top down. */
  readonly path: string;
  /** Its heading and what stands under it, without the sections below. */
  readonly text: string;
}

/**
 * Which sections of a document are not as they were in an earlier one. A section is known by its headings from the
 * top down; of several with the same ones, those that have not changed are put together first. Linear.
 */
export function compareSections(earlier: string | undefined, now: string, since: string): Changes {
  if (earlier === undefined) return {since, is_known: false, sections: [], gone: []};
  const before = groupBy(partsOf(earlier), ({path}) => path);
  const others: Part[] = [];
  const same = new Set<Part>();
  for (const [path, parts] of groupBy(partsOf(now), ({path}) => path)) {
    const known = groupBy(before.get(path) ?? [], ({text}) => text);
    for (const part of parts) {
      const equal = known.get(part.text)?.pop();
      if (equal) same.add(equal);
      else others.push(part);
    }
  }
  const left = new Map(
    [...before].map(([path, parts]) => [path, parts.filter(part => !same.has(part)).reverse()]),
  );
  const sections: SectionChange[] = [];
  for (const {section, path} of others.sort((a, b) => a.section.number - b.section.number)) {
    const {number, heading} = section;
    const change = left.get(path)?.pop() ? 'changed' : 'new';
    sections.push({number, heading, change});
  }
  const gone = [...left.values()].flat().sort((a, b) => a.section.number - b.section.number);
  const leftOut = Math.max(0, sections.length - MOST_NAMED) + Math.max(0, gone.length - MOST_NAMED);
  return {
    since,
    is_known: true,
    sections: sections.slice(0, MOST_NAMED),
    gone: gone.slice(0, MOST_NAMED).map(({section}) => section.heading),
    ...(leftOut > 0 && {left_out: leftOut}),
  };
}

function groupBy(parts: readonly Part[], keyOf: (part: Part) => string): Map<string, Part[]> {
  const groups = new Map<string, Part[]>();
  for (const part of parts) {
    const group = groups.get(keyOf(part));
    if (group) group.push(part);
    else groups.set(keyOf(part), [part]);
  }
  return groups;
}

function partsOf(markdown: string): readonly Part[] {
  const sections = sectionsOf(markdown, segmentsOf(markdown));
  const paths: string[] = [];
  const parts = sections.map((section, index) => {
    const {parent, heading, start} = section;
    const path = `${parent === undefined ? '' : (paths[parent] ?? '')}\n${heading}`;
    paths.push(path);
    const text = markdown.slice(start, sections[index + 1]?.start ?? markdown.length).trimEnd();
    return {section, path, text};
  });
  return parts.filter(({text}) => text !== '');
}
