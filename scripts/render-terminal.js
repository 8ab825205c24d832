// A terminal as an SVG that plays by itself: no script, no font of its own, nothing loaded.

const ROWS = 32;
const COLUMNS = 92;
const LINE = 19;
const CHARACTER = 8.43;
const MARGIN = 18;
const BAR = 34;
const SECONDS_A_STEP = 2.6;
const STYLES = {1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y', 36: 'c'};

/** `text` with SGR sequences, scrolled step by step; a step begins with an empty line and a number. */
export function renderTerminal(text, title) {
  const lines = text.trimEnd().split('\n').flatMap(wrap);
  const stops = stopsOf(lines);
  const width = Math.round(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = BAR + ROWS * LINE + MARGIN;
  const total = (stops.length + 2) * SECONDS_A_STEP;
  const at = index => ((100 * index * SECONDS_A_STEP) / total).toFixed(2);
  const frames = stops.map((stop, index) => {
    const moved = `transform:translateY(-${Math.max(0, stop - ROWS) * LINE}px)`;
    return `${at(index)}%,${at(index + 0.85)}%{${moved}}`;
  });
  const last = Math.max(0, lines.length - ROWS) * LINE;
  const rows = lines
    .map((line, index) => (line === '' ? '' : `<text y="${(index + 1) * LINE - 5}">${spansOf(line)}</text>`))
    .filter(row => row !== '');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>
text{font:14px ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d7dce2;white-space:pre}
.b{font-weight:700;fill:#fff}.d{fill:#8b949e}.r{fill:#ff8a80}.g{fill:#7ddc9a}.y{fill:#e8c06a}.c{fill:#7cc7f2}
#all{transform:translateY(-${last}px)}
@media (prefers-reduced-motion:no-preference){#all{animation:play ${total.toFixed(1)}s infinite}}
@keyframes play{${frames.join('')}${at(stops.length)}%,100%{transform:translateY(-${last}px)}}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#14171b"/>
<circle cx="20" cy="17" r="6" fill="#ff5f57"/><circle cx="40" cy="17" r="6" fill="#febc2e"/><circle cx="60" cy="17" r="6" fill="#28c840"/>
<text x="${width / 2}" y="22" text-anchor="middle" class="d">${escapeXml(title)}</text>
<svg x="${MARGIN}" y="${BAR}" width="${width - 2 * MARGIN}" height="${ROWS * LINE}"><g id="all">
${rows.join('\n')}
</g></svg>
</svg>
`;
}

/** The number of lines that are there when a step has ended. */
function stopsOf(lines) {
  const begins = lines.flatMap((line, index) => (/^(?:\u001b\[1m)?\d+\. /.test(line) ? [index] : []));
  return begins.map(begin => {
    const next = begins.find(other => other > begin) ?? lines.length + 1;
    return next - 1;
  });
}

/** A line as a terminal of this width has it. Sequences take no column. */
function wrap(line) {
  const rows = [''];
  let columns = 0;
  for (const [piece] of line.matchAll(/\u001b\[\d+m|./gsu)) {
    if (!piece.startsWith('\u001b')) {
      if (columns === COLUMNS) {
        rows.push('');
        columns = 0;
      }
      columns += 1;
    }
    rows[rows.length - 1] += piece;
  }
  return rows;
}

function spansOf(line) {
  let style;
  return line
    .split(/(\u001b\[\d+m)/)
    .map(piece => {
      const code = /^\u001b\[(\d+)m$/.exec(piece)?.[1];
      if (code !== undefined) {
        style = STYLES[code];
        return '';
      }
      if (piece === '') return '';
      return `<tspan${style === undefined ? '' : ` class="${style}"`}>${escapeXml(piece)}</tspan>`;
    })
    .join('')
    .replace(/<tspan>(.*?)<\/tspan>/g, '$1');
}

function escapeXml(text) {
  const names = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
  return text.replace(/[&<>"]/g, character => names[character]);
}
