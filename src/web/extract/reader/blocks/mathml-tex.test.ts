import {expect, test} from 'vitest';
import {parseFully} from '../../parse/parse-fully.ts';
import {TAG} from '../../tree/tag.ts';
import {DOCUMENT, NONE} from '../../tree/tree.ts';
import {texOf} from './mathml-tex.ts';

function tex(content: string, attributes = ''): string {
  const tree = parseFully(`<p><math ${attributes}>${content}</math></p>`);
  let node = tree.firstChild(DOCUMENT);
  while (node !== NONE && tree.tag(node) !== TAG.math) node = tree.following(node, DOCUMENT);
  return texOf(tree, node);
}

const SUM = '<mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi>';

test.each([
  ['<mi>x</mi><mo>=</mo><mn>12.5</mn>', 'x=12.5'],
  ['<mfrac><mrow><mo>−</mo><mi>b</mi></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>', '\\frac{-b}{2a}'],
  ['<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>', '{n \\atop k}'],
  ['<msup><mi>x</mi><mn>2</mn></msup>', 'x^2'],
  ['<msup><mi>x</mi><mn>10</mn></msup>', 'x^{10}'],
  ['<msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup>', '10^{-3}'],
  ['<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>', '{(a)}^2'],
  ['<msub><mi>a</mi><mi>i</mi></msub>', 'a_i'],
  ['<msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup>', 'a_i^2'],
  ['<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>', '\\sqrt{a+b}'],
  ['<mroot><mi>a</mi><mn>3</mn></mroot>', '\\sqrt[3]{a}'],
  [`<munderover>${SUM}</munderover>`, '∑_{i=0}^n'],
  [`<msubsup>${SUM}</msubsup>`, '∑_{i=0}^n'],
  ['<munder><mi>lim</mi><mi>x</mi></munder>', '\\lim_x'],
  ['<munder><mi>a</mi><mi>b</mi></munder>', '\\underset{b}{a}'],
  ['<munder><mi>a</mi><mo>_</mo></munder>', '\\underline{a}'],
  ['<mover><mo>∫</mo><mn>1</mn></mover>', '∫^1'],
  ['<mover><mi>a</mi><mo>→</mo></mover>', '\\vec{a}'],
  ['<mover><mi>a</mi><mi>b</mi></mover>', '\\overset{b}{a}'],
  ['<munderover><mi>a</mi><mi>b</mi><mi>c</mi></munderover>', '\\underset{b}{\\overset{c}{a}}'],
  [
    '<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr> <mtr><mtd><mi>c</mi></mtd></mtr></mtable>',
    '\\begin{matrix} a & b \\\\ c \\end{matrix}',
  ],
  ['<mi>sin</mi><mi>x</mi>', '\\sin x'],
  ['<mi>sin</mi><mo>(</mo>', '\\sin('],
  ['<mi>area</mi>', '\\mathrm{area}'],
  ['<mi>a</mi><mtext>\u00a0if 5%  of </mtext>', 'a\\text{ if 5\\% of }'],
  ['<mi>a</mi><mtext> </mtext>', 'a'],
  ['<mo>{</mo><mi>f</mi><mo>\u2061</mo><mi>x</mi><mo>}</mo>', '\\{fx\\}'],
  ['<mrow><mi>a</mi><mspace width="1em"/></mrow>', 'a'],
  ['<semantics><mi>a</mi><annotation-xml><mi>b</mi></annotation-xml></semantics>', 'a'],
  ['', ''],
])('R2: MathML %s is TeX', (content, expected) => {
  expect(tex(content)).toBe(expected);
});

test('R2: what a formula says of itself goes before what its elements mean, where it is TeX', () => {
  expect(tex('<mi>x</mi>', 'alttext="\\hat{x}"')).toBe('\\hat{x}');
  expect(tex('<mi>x</mi>', 'alttext="the letter x"')).toBe('x');
});

test('policy: a formula that is deeper than anybody writes ends as text, and takes no longer', () => {
  const deep = (levels: number): string =>
    `${'<msqrt>'.repeat(levels)}<mi>x</mi>${'</msqrt>'.repeat(levels)}`;
  expect(tex(deep(47))).toBe(`${'\\sqrt{'.repeat(47)}x${'}'.repeat(47)}`);
  expect(tex(deep(400))).toBe(`${'\\sqrt{'.repeat(48)}\\text{x}${'}'.repeat(48)}`);
});
