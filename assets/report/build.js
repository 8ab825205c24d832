// The script of the report page. It builds elements only from the tags and attributes below and puts every text
// in as a text node; the page's policy lets no other script run, and this one makes no HTML of a string.

const TAGS = new Set(
  'a b blockquote br code dd del details div dl dt em h4 h5 h6 hr li ol p pre section span strong summary table tbody td th thead tr ul'.split(
    ' ',
  ),
);
const STATES = {
  success: ['✓', 'ok'],
  failed: ['✕', 'failed'],
  refused: ['⊘', 'refused'],
  running: ['…', 'running'],
  lost: ['⚠', 'cut off'],
};

const byId = id => document.getElementById(id);
const list = byId('list');

/** `[tag, attributes, children]` or a text. */
function build(markup) {
  if (typeof markup === 'string') return document.createTextNode(markup);
  const [tag, attributes, children] = markup;
  if (!TAGS.has(tag)) return document.createTextNode('');
  const node = document.createElement(tag);
  if (typeof attributes.class === 'string') node.className = attributes.class;
  if (typeof attributes.title === 'string') node.title = attributes.title;
  if (tag === 'ol' && Number.isInteger(attributes.start)) node.start = attributes.start;
  if (tag === 'a' && /^https?:\/\//.test(attributes.href)) {
    node.href = attributes.href;
    node.target = '_blank';
    node.rel = 'noopener noreferrer nofollow';
  }
  for (const child of children) node.append(build(child));
  return node;
}

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function textOf(markup, into) {
  if (typeof markup === 'string') into.push(markup);
  else for (const child of markup[2]) textOf(child, into);
  return into;
}

function count(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

function duration(ms) {
  if (ms < 999.5) return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const pad = number => String(number).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${pad(Math.floor(seconds / 60) % 60)} m`;
}
