/**
 * Every place where `wanted`, which is not empty, is in `text`; overlapping ones too. Linear in both, whatever they
 * are (Knuth, Morris, Pratt).
 */
export function* occurrencesOf(text: string, wanted: string): Generator<number> {
  const {length} = wanted;
  const borders = new Int32Array(length + 1);
  const longer = (matched: number, unit: number): number => {
    let border = matched;
    while (border > 0 && wanted.charCodeAt(border) !== unit) border = borders[border] as number;
    return wanted.charCodeAt(border) === unit ? border + 1 : 0;
  };
  for (let at = 1; at < length; at += 1) {
    borders[at + 1] = longer(borders[at] as number, wanted.charCodeAt(at));
  }
  for (let at = 0, matched = 0; at < text.length; at += 1) {
    matched = longer(matched, text.charCodeAt(at));
    if (matched < length) continue;
    yield at - length + 1;
    matched = borders[length] as number;
  }
}
