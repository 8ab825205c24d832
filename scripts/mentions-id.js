const RULING = /^[A-Z]\d+$/;
/** Names of other things too: findings of reviews, and the C1 control characters. */
const NEEDS_THE_WORD = /^(?:R\d+|C[01])$/;
const patterns = new Map();

/**
 * Whether `text` names the requirement or ruling `id`, and not a longer id that begins like it. A ruling is
 * named as "ruling W1", "rulings W3, W4", or by the id alone; "review B1", "red team F7" and "conformance V1" are findings.
 */
export function mentionsId(text, id) {
  let pattern = patterns.get(id);
  if (pattern === undefined) {
    pattern = RULING.test(id) ? rulingPattern(id) : new RegExp(`(?<![\\w-])${id}(?!\\w|-\\w)`);
    patterns.set(id, pattern);
  }
  return pattern.test(text);
}

function rulingPattern(id) {
  const others = '(?:[A-Z]\\d+(?:, | and ))*';
  const start = NEEDS_THE_WORD.test(id)
    ? `(?<=[Rr]ulings? ${others})`
    : `(?<![\\w+./-])(?<!(?:[Rr]eviews?|[Rr]ed team|[Cc]onformance) ${others})`;
  return new RegExp(`${start}${id}(?![\\w-])`);
}
