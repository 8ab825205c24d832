import fc from 'fast-check';

// biome-ignore format: a case is a line
const GROUPS = [
  ['p', 'div', 'a', 'b', 'i', 'span', 'ul', 'li', 'h1', 'h2', 'form', 'button', 'font', 'br', 'img', 'pre'],
  ['table', 'tr', 'td', 'th', 'tbody', 'thead', 'caption', 'colgroup', 'col', 'p', 'b', 'form', 'input', 'select'],
  ['svg', 'math', 'title', 'desc', 'foreignObject', 'mi', 'annotation-xml', 'p', 'b', 'font', 'table', 'style'],
  ['select', 'option', 'optgroup', 'input', 'textarea', 'table', 'tr', 'td', 'b', 'hr', 'script', 'p'],
  ['html', 'head', 'title', 'body', 'base', 'meta', 'link', 'script', 'style', 'noscript', 'template', 'frameset'],
  ['ruby', 'rb', 'rt', 'rp', 'rtc', 'dl', 'dd', 'dt', 'nobr', 'object', 'applet', 'em', 'code', 'blockquote', 'xmp'],
];
// biome-ignore format: a list
const ATTRIBUTES = [
  '', '', '', ' class=x', ' id="a b"', ' href="/x?a=1&amp;b=2&copy=3"', " style='y'lang=de", ' type=hidden',
  ' color=red', ' encoding=text/html', ' xlink:href="#q" href=z', ' hidden', ' class=1 CLASS=2', '/', ' /',
  ' =x', ' class = "q" ', ' "', ' xml:lang=fr', ' open role=main', ' alt="&lt;&notit;&not=&#x80;"',
];
// biome-ignore format: a list
const TEXTS = [
  'x', ' ', '\n', '  y ', 'a < b', '&amp;', '&ampx', '&notit;', '&#10;', '&#13;', '&#x80;', '&#0;', '&bogus;',
  '\r\n', '\r', 'é', '&NotEqualTilde;', '</', '<', '<>', '&', '&#', '&#x;', '-->', ']]>', '👍', '\0',
];
// biome-ignore format: a case is a line
const DECLARATIONS = [
  ...['<!-- c -->', '<!-->', '<!--->', '<!-- a --!> b', '<!x>', '<?pi?>', '</ x>', '</>', '<![CDATA[ c <b> ]]>'],
  ...['<!DOCTYPE html>', '<!doctype html public "-//W3C//DTD HTML 3.2//EN">', '<!--', '<!--<!-->', '<!doctype'],
  ...['<script>a<!--<script></script>--></script>', '<script><!--->', '<script><!-- <!--> </script>', '<script>'],
  ...['<title>t&amp;</title>', '<style>a<b</style>', '<textarea>\n\nq</textarea>', '<svg><title>t</title></svg>'],
];

/** Documents of tags, texts and declarations in any order, mostly from one group of elements that have rules in common. */
export const markupSoup: fc.Arbitrary<string> = fc.constantFrom(...GROUPS).chain(group => {
  const name = fc.oneof(
    {weight: 6, arbitrary: fc.constantFrom(...group)},
    {weight: 1, arbitrary: fc.constantFrom(...GROUPS.flat(), 'x-y', 'text', 'TD')},
  );
  const tag = fc
    .tuple(fc.constantFrom('<', '<', '</'), name, fc.constantFrom(...ATTRIBUTES))
    .map(([open, element, attributes]) => `${open}${element}${attributes}>`);
  const part = fc.oneof(
    {weight: 8, arbitrary: tag},
    {weight: 2, arbitrary: fc.constantFrom(...TEXTS)},
    {weight: 1, arbitrary: fc.constantFrom(...DECLARATIONS)},
  );
  const start = fc.constantFrom('', '<!DOCTYPE html>', '<table><tr><td>', '<svg>');
  return fc.tuple(start, fc.array(part, {maxLength: 30})).map(([first, parts]) => first + parts.join(''));
});

/** Edits of a document: parts (each begins with a `<`) are left out, repeated or swapped. */
export function mutationOf(html: string): fc.Arbitrary<string> {
  const parts = html.split(/(?=<)/);
  const place = fc.nat({max: parts.length - 1});
  const edit = fc.tuple(fc.constantFrom('delete', 'repeat', 'swap'), place, place);
  return fc.array(edit, {minLength: 1, maxLength: 5}).map(edits => {
    const edited = [...parts];
    for (const [kind, first, second] of edits) {
      const part = edited[second] ?? '';
      if (kind === 'delete') edited.splice(first, 1);
      else if (kind === 'repeat') edited.splice(first, 0, part);
      else [edited[first], edited[second]] = [part, edited[first] ?? ''];
    }
    return edited.join('');
  });
}
