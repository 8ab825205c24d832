// What stands above the rows

/** Why calls are refused, in words; other codes are words already. */
const REASONS = {
  ssrf_blocked: 'private address (SSRF)',
  robots_disallowed: 'robots.txt',
  approval_denied: 'declined',
  approval_required: 'not approved',
};
const page = {head: undefined, live: false, lastAt: 0, net: {files: 0, added: 0, removed: 0}};

/** What the run came to, in a line: what a reader wants to know before anything else. */
function drawHeadline(all) {
  const of = state => all.filter(data => data.state === state);
  const refused = of('refused');
  const failed = of('failed').length + of('lost').length;
  const {files} = page.net;
  const parts = [
    count(all.length, 'call'),
    ...(files > 0 ? [`${count(files, 'file')} changed`] : []),
    ...(refused.length > 0 ? [`${refused.length.toLocaleString('en')} refused`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  const headline = parts.join(', ');
  if (byId('headline').textContent !== headline) byId('headline').textContent = headline;
  document.title = `${headline} · run ${page.head.name}`;
  const reasons = new Map();
  for (const {error} of refused) {
    const reason = REASONS[error] ?? (error ?? 'refused').replaceAll('_', ' ');
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  byId('refusals').hidden = refused.length === 0;
  byId('refusals').textContent = `Refused: ${[...reasons]
    .map(([reason, times]) => (times > 1 ? `${reason} × ${times}` : reason))
    .join(', ')}`;
}

function drawNet({net, body}) {
  page.net = net;
  byId('net').hidden = net.files === 0;
  byId('net-title').textContent =
    `${count(net.files, 'changed file')}, +${net.added.toLocaleString('en')} −${net.removed.toLocaleString('en')} lines`;
  const open = new Set(
    [...byId('net-body').querySelectorAll('details[open] .path')].map(node => node.textContent),
  );
  byId('net-body').replaceChildren(build(body));
  for (const file of byId('net-body').querySelectorAll('details')) {
    file.open = net.files <= 3 || open.has(file.querySelector('.path').textContent);
    file.addEventListener('toggle', paint);
  }
  paint();
}

function drawHead() {
  const {path, state, verdict, notes} = page.head;
  byId('where').textContent = path;
  const shown = byId('verdict');
  shown.className = verdict.state;
  shown.textContent = `${state === 'ended' ? 'Ended normally' : state === 'running' ? 'Running' : 'Not ended normally'}. ${verdict.text}`;
  byId('notes').replaceChildren(...notes.map(note => make('p', 'warning', note)));
}

function drawTotals() {
  const all = [...calls.values()].map(({data}) => data);
  const count = state => all.filter(data => data.state === state).length;
  const sum = field => all.reduce((total, data) => total + (data[field] ?? 0), 0);
  const ends = all.reduce((latest, data) => Math.max(latest, endOf(data)), 0);
  const starts = all.reduce((earliest, data) => Math.min(earliest, data.start), ends);
  const facts = [
    ['calls', all.length],
    ...Object.keys(STATES).map(state => [STATES[state][1], count(state), state]),
    ...(all.some(({tokens}) => tokens > 0) ? [['tokens of pages', sum('tokens').toLocaleString('en')]] : []),
    ['from first to last', duration(ends - starts)],
    ['running', duration(sum('run') * 1000)],
    ['waiting', duration(sum('wait') * 1000)],
  ].filter(([, value, state]) => state === undefined || value > 0);
  byId('totals').replaceChildren(
    ...facts.map(([name, value, state]) => {
      const fact = make('div', state ?? '');
      fact.append(make('dt', '', name), make('dd', '', String(value)));
      return fact;
    }),
  );
  drawHeadline(all);
  drawFilters(all);
}

function drawFilters(all) {
  const tools = new Map();
  const states = new Map();
  for (const {tool, state} of all) {
    tools.set(tool, (tools.get(tool) ?? 0) + 1);
    states.set(state, (states.get(state) ?? 0) + 1);
  }
  const select = byId('tool');
  const options = [
    ['', `All tools (${tools.size})`],
    ...[...tools].sort().map(([tool, n]) => [tool, `${tool} (${n})`]),
  ];
  for (const [index, [value, text]] of options.entries()) {
    const option = select.options[index] ?? select.appendChild(make('option'));
    const isChosen = option.value === value && option.selected;
    if (option.textContent !== text) {
      option.textContent = text;
      option.value = value;
      option.selected = isChosen || filter.tool === value;
    }
  }
  for (const [state, [mark, name]] of Object.entries(STATES)) {
    const n = states.get(state) ?? 0;
    let button = byId(`state-${state}`);
    if (!button) {
      button = make('button', state);
      button.id = `state-${state}`;
      button.type = 'button';
      button.setAttribute('aria-pressed', 'false');
      button.addEventListener('click', () => {
        const isOn = !filter.states.delete(state);
        if (isOn) filter.states.add(state);
        button.setAttribute('aria-pressed', String(isOn));
        applyFilters();
      });
      byId('states').append(button);
    }
    button.textContent = `${mark} ${name} ${n}`;
    button.hidden = n === 0 && !filter.states.has(state);
  }
}
