// Search and filters

const filter = {text: '', tool: '', states: new Set()};

function fits(call) {
  const {data} = call;
  if (filter.tool !== '' && data.tool !== filter.tool) return false;
  if (filter.states.size > 0 && !filter.states.has(data.state)) return false;
  if (filter.text === '') return true;
  call.text ??= textOf(JSON.parse(call.line).body, [data.tool, data.summary, data.error ?? '', data.by ?? ''])
    .join('\n')
    .toLowerCase();
  return call.text.includes(filter.text);
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
