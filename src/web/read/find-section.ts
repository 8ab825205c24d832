import type {PageSection} from './sections-of.ts';

/** A section by its number, its heading, or a `#fragment` made of its heading. */
export function findSection(
  sections: readonly PageSection[],
  wanted: string | number,
): PageSection | undefined {
  if (typeof wanted === 'number') return sections[wanted];
  const text = wanted.trim();
  const named = sections.slice(1);
  return (
    named.find(({heading}) => heading === text) ??
    (/^\d{1,9}$/.test(text) ? sections[Number(text)] : undefined) ??
    byName(named, text) ??
    byName(named, decoded(text))
  );
}

/** Sites make a fragment of a heading in many ways; letters and digits are what they share. */
function byName(sections: readonly PageSection[], text: string): PageSection | undefined {
  const name = nameOf(text);
  return name === '' ? undefined : sections.find(({heading}) => nameOf(heading) === name);
}

function nameOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
