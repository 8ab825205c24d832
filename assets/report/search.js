// Search and filters

const filter = {text: '', tool: '', states: new Set()};

function fits(call) {
  const {data} = call;
  if (filter.tool !== '' && data.tool !== filter.tool) return false;
  if (filter.states.size > 0 && !filter.states.has(data.state)) return false;
  if (filter.text === '') return true;
  call.text ??= textsOf(call).join('\n').toLowerCase();
  return call.text.includes(filter.text);
}

function textsOf({data, line}) {
  const head = [data.tool, data.title ?? '', data.summary, data.error ?? '', data.by ?? ''];
  return textOf(JSON.parse(line).body, head);
}

const MOST_SNIPPETS = 100;

/** Of a closed call whose row does not have what was searched for: where it stands inside. */
function drawSnippets() {
  let left = MOST_SNIPPETS;
  for (const call of calls.values()) {
    const isWanted = filter.text !== '' && !call.row.hidden && !call.details.open && left > 0;
    const isInRow = ['tool', 'about', 'why'].some(name =>
      call.cells[name].textContent.toLowerCase().includes(filter.text),
    );
    const snippet = isWanted && !isInRow ? snippetOf(call) : '';
    if (snippet !== '') left -= 1;
    if (call.cells.hit.textContent !== snippet) call.cells.hit.textContent = snippet;
  }
}

function snippetOf(call) {
  for (const text of textsOf(call)) {
    const at = text.toLowerCase().indexOf(filter.text);
    if (at === -1) continue;
    const from = Math.max(0, at - 40);
    const to = at + filter.text.length + 60;
    const cut = text.slice(from, to).replace(/\s+/g, ' ').trim();
    return `${from > 0 ? '…' : ''}${cut}${to < text.length ? '…' : ''}`;
  }
  return '';
}

function applyFilters() {
  let shown = 0;
  for (const call of calls.values()) {
    const isShown = fits(call);
    if (call.row.hidden === isShown) call.row.hidden = !isShown;
    if (isShown) shown += 1;
  }
  const isFiltered = shown < calls.size;
  list.classList.toggle('filtered', isFiltered);
  byId('nothing').hidden = shown > 0 || calls.size === 0;
  const text = isFiltered ? `${shown} of ${calls.size} calls` : `${calls.size} calls`;
  if (byId('count').textContent !== text) byId('count').textContent = text;
  drawSnippets();
  highlight();
}

/** Marks what was searched for, where the browser can do that without new elements. */
function highlight() {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete('found');
  if (filter.text === '') return;
  const ranges = [];
  for (const {row, head, inside, details} of calls.values()) {
    if (row.hidden || ranges.length > 1000) continue;
    for (const root of details.open ? [head, inside] : [head]) {
      const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (nodes.nextNode()) {
        const text = nodes.currentNode.data.toLowerCase();
        for (
          let at = text.indexOf(filter.text);
          at >= 0 && ranges.length <= 1000;
          at = text.indexOf(filter.text, at + 1)
        ) {
          const end = at + filter.text.length;
          // Lower case may be of another length.
          if (end > nodes.currentNode.data.length) break;
          const range = new Range();
          range.setStart(nodes.currentNode, at);
          range.setEnd(nodes.currentNode, end);
          ranges.push(range);
        }
      }
    }
  }
  CSS.highlights.set('found', new Highlight(...ranges));
}

let typing;
byId('search').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    filter.text = byId('search').value.trim().toLowerCase();
    applyFilters();
  }, 120);
});
byId('tool').addEventListener('change', () => {
  filter.tool = byId('tool').value;
  applyFilters();
});
byId('pauses').addEventListener('change', () => {
  byId('pauses').dataset.chosen = 'yes';
  redraw();
});
byId('reset').addEventListener('click', () => {
  Object.assign(filter, {text: '', tool: ''});
  filter.states.clear();
  byId('search').value = '';
  byId('tool').value = '';
  for (const button of byId('states').children) button.setAttribute('aria-pressed', 'false');
  applyFilters();
  move(1);
});
