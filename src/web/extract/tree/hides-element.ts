/** D2: whether an inline style makes its element invisible: the last `display` is `none`, or `visibility` is `hidden`. */
export function hidesElement(style: string): boolean {
  if (!/none|hidden|\\/i.test(style)) return false;
  let display = '';
  let visibility = '';
  for (const declaration of withoutComments(style).split(';')) {
    const colon = declaration.indexOf(':');
    const property = unescaped(declaration.slice(0, colon)).trim().toLowerCase();
    const value = unescaped(declaration.slice(colon + 1))
      .replace(/!.*$/s, '')
      .trim()
      .toLowerCase();
    if (property === 'display') display = value;
    else if (property === 'visibility') visibility = value;
  }
  return display === 'none' || visibility === 'hidden';
}

/** CSS escapes hide a keyword from a reader of the source, not from the browser. */
function unescaped(css: string): string {
  if (!css.includes('\\')) return css;
  return css.replace(/\\([0-9a-f]{1,6}[ \t\n\f]?|[^0-9a-f\n])/gi, (_, sequence: string) => {
    const code = Number.parseInt(sequence, 16);
    return Number.isNaN(code) || code > 0x10_ffff ? sequence : String.fromCodePoint(code);
  });
}

function withoutComments(css: string): string {
  let kept = '';
  let position = 0;
  for (let open = css.indexOf('/*'); open !== -1; open = css.indexOf('/*', position)) {
    kept += css.slice(position, open);
    const close = css.indexOf('*/', open + 2);
    if (close === -1) return kept;
    position = close + 2;
  }
  return kept + css.slice(position);
}
