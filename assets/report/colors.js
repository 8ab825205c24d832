// Colours of code, without elements: the browser paints ranges of the text

const CODE =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|toml|ya?ml|json)$/;
const HASH_COMMENTS = /\.(?:py|rb|sh|bash|zsh|toml|ya?ml)$/;
const KEYWORDS =
  'as async await break case catch class const continue def default defer do done elif else enum esac except export extends fi finally fn for from func function if impl import in interface let match mut new not null pass pub raise return self static struct super switch then this throw true false try type use var void while with yield None True False';
const COLOURS = ['string', 'comment', 'number', 'keyword'];
const TOKENS = new RegExp(
  [
    /(?<string>"(?:[^"\\\n]|\\.){0,500}"|'(?:[^'\\\n]|\\.){0,500}'|`(?:[^`\\\n]|\\.){0,500}`)/.source,
    /(?<comment>\/\/[^\n]*|\/\*[^\n]*?\*\/|(?:^|(?<=\s))#[^\n]*)/.source,
    /(?<number>\b\d[\d_.]*\b)/.source,
    `(?<keyword>\\b(?:${KEYWORDS.replaceAll(' ', '|')})\\b)`,
  ].join('|'),
  'gm',
);
const MOST_PAINTED = 20_000;
const LONGEST_LINE = 2000;

/** Colours the lines of a diff, by the name of the file above them. */
function paintDiff(diff, painted) {
  let name = '';
  for (const line of diff.children) {
    const text = line.lastChild?.data ?? '';
    if (line.className === 'meta') {
      name = /^(?:\+\+\+|---) (?:[ab]\/)?(.+?)\s*$/.exec(text)?.[1] ?? name;
    } else if (CODE.test(name) && /^(?:add|del|same)$/.test(line.className)) {
      paintText(line.lastChild, 1, HASH_COMMENTS.test(name), painted);
    }
  }
}

function paintText(node, start, hasHashComments, painted) {
  const text = node.data;
  if (text.length > LONGEST_LINE || painted.length >= MOST_PAINTED) return;
  TOKENS.lastIndex = start;
  for (let found = TOKENS.exec(text); found !== null; found = TOKENS.exec(text)) {
    const kind = COLOURS.find(name => found.groups[name] !== undefined);
    const isHash = kind === 'comment' && found[0].startsWith('#');
    if (isHash && !hasHashComments) {
      TOKENS.lastIndex = found.index + 1;
      continue;
    }
    const range = new Range();
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].length);
    painted.push([kind, range]);
  }
}

let isPainting = false;
/** All that is open, as what was closed is gone. */
function paint() {
  if (!('highlights' in CSS) || isPainting) return;
  isPainting = true;
  requestAnimationFrame(() => {
    isPainting = false;
    const painted = [];
    for (const diff of document.querySelectorAll('details[open] > pre.diff, details[open] .body pre.diff')) {
      paintDiff(diff, painted);
    }
    for (const colour of COLOURS) {
      const ranges = painted.flatMap(([kind, range]) => (kind === colour ? [range] : []));
      CSS.highlights.set(colour, new Highlight(...ranges));
    }
  });
}
