const BLANK = 1;
const DIGIT = 2;
const UPPER = 3;
const LOWER = 4;
const STOP = 5;
const COMMA = 6;
const OTHER = 7;
const IDEOGRAPH = 8;
const DIVIDER = 9;
const BULLET = 0x2022;

const CLASSES = new Uint8Array(0x100).fill(LOWER, 0xc0).fill(OTHER, 0, 0xc0);
CLASSES.fill(BLANK, 0, 0x21).fill(DIGIT, 0x30, 0x3a).fill(UPPER, 0x41, 0x5b).fill(LOWER, 0x61, 0x7b);
CLASSES.fill(UPPER, 0xc0, 0xdf);
CLASSES[0xa0] = BLANK;
for (const sign of '.!?:;') CLASSES[sign.charCodeAt(0)] = STOP;
CLASSES[0x2c] = COMMA;
for (const sign of '|/>·»') CLASSES[sign.charCodeAt(0)] = DIVIDER;

/** Signs that end a clause outside Latin scripts: Arabic, Devanagari and the wide forms of East Asia. */
const WIDE_STOPS: ReadonlySet<number> = new Set(Array.from('…。！？：；؟۔।', sign => sign.charCodeAt(0)));
const WIDE_COMMAS: ReadonlySet<number> = new Set(Array.from('，、،', sign => sign.charCodeAt(0)));

function classOf(unit: number): number {
  if (unit < 0x100) return CLASSES[unit] ?? OTHER;
  if (unit < 0x2000) return WIDE_STOPS.has(unit) ? STOP : WIDE_COMMAS.has(unit) ? COMMA : LOWER;
  if (unit >= 0x3040 && unit <= 0x9fff) return IDEOGRAPH;
  if (WIDE_STOPS.has(unit)) return STOP;
  if (WIDE_COMMAS.has(unit)) return COMMA;
  if (unit === 0x3000 || unit <= 0x200f || unit === 0x2028) return BLANK;
  return unit >= 0x3400 ? LOWER : OTHER;
}

/** Counts of a text that comes in pieces. */
export class TextMeasure {
  /** UTF-16 units that are not blank. */
  units = 0;
  /** Runs of letters between blanks; two ideographs are one. */
  words = 0;
  digits = 0;
  uppers = 0;
  stops = 0;
  commas = 0;
  /** Signs that divide entries of one line. */
  dividers = 0;
  /** Of the letters and digits: equal texts have equal ones. */
  hash = 0;
  endsWithStop = false;
  firstUnit = 0;
  lastUnit = 0;

  clear(): void {
    this.units = 0;
    this.words = 0;
    this.digits = 0;
    this.uppers = 0;
    this.stops = 0;
    this.commas = 0;
    this.dividers = 0;
    this.hash = 0;
    this.endsWithStop = false;
    this.firstUnit = 0;
    this.lastUnit = 0;
  }

  /** Returns the number of units that are not blank. */
  add(text: string): number {
    let {words, digits, uppers, stops, commas, dividers, hash} = this;
    let isInWord = false;
    let blanks = 0;
    let first = -1;
    let last = -1;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const kind = unit < 0x100 ? CLASSES[unit] : classOf(unit);
      if (kind === BLANK) {
        isInWord = false;
        blanks++;
        continue;
      }
      if (first < 0) first = at;
      last = at;
      if (kind === LOWER || kind === UPPER || kind === DIGIT) {
        if (!isInWord) words++;
        isInWord = true;
        if (kind === DIGIT) digits++;
        else if (kind === UPPER) uppers++;
        hash = (Math.imul(hash, 31) + unit) | 0;
      } else if (kind === IDEOGRAPH) {
        words += 0.5;
        isInWord = false;
        hash = (Math.imul(hash, 31) + unit) | 0;
      } else if (kind === STOP) stops++;
      else if (kind === COMMA) commas++;
      else if (kind === DIVIDER || unit === BULLET) dividers++;
    }
    this.words = words;
    this.digits = digits;
    this.uppers = uppers;
    this.stops = stops;
    this.commas = commas;
    this.dividers = dividers;
    this.hash = hash;
    if (last < 0) return 0;
    if (this.units === 0) this.firstUnit = text.charCodeAt(first);
    this.lastUnit = text.charCodeAt(last);
    this.endsWithStop = classOf(this.lastUnit) === STOP;
    this.units += text.length - blanks;
    return text.length - blanks;
  }
}
