import type {Markup} from '../../src/report/markup.ts';

/** Markup as tags, for tests to compare. Not escaped: `<b>` in it may be a text. */
export function showMarkup(markup: readonly Markup[]): string {
  return markup
    .map(node => {
      if (typeof node === 'string') return node;
      const [tag, attributes, children] = node;
      const written = Object.entries(attributes).map(([name, value]) => ` ${name}=${value}`);
      return `<${tag}${written.join('')}>${showMarkup(children)}</${tag}>`;
    })
    .join('');
}

/** The texts alone. */
export function textOfMarkup(markup: readonly Markup[]): string {
  return markup.map(node => (typeof node === 'string' ? node : textOfMarkup(node[2]))).join('');
}
