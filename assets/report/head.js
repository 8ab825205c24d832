// What stands above the rows

const page = {head: undefined, live: false, lastAt: 0};

function drawHead() {
  const {name, path, state, verdict, notes} = page.head;
  byId('where').textContent = path;
  const shown = byId('verdict');
  shown.className = verdict.state;
  shown.textContent = `${state === 'ended' ? 'Ended in good order' : state === 'running' ? 'Running' : 'Not closed in good order'}. ${verdict.text}`;
  byId('notes').replaceChildren(...notes.map(note => make('p', 'warning', note)));
  document.title = `Run ${name}`;
}

function drawTotals() {
  const all = [...calls.values()].map(({data}) => data);
  const count = state => all.filter(data => data.state === state).length;
  const sum = field => all.reduce((total, data) => total + (data[field] ?? 0), 0) * 1000;
  const ends = all.reduce((latest, data) => Math.max(latest, endOf(data)), 0);
  const starts = all.reduce((earliest, data) => Math.min(earliest, data.start), ends);
  const facts = [
    ['calls', all.length],
    ...Object.keys(STATES).map(state => [STATES[state][1], count(state), state]),
    ['from first to last', duration(ends - starts)],
    ['running', duration(sum('run'))],
    ['waiting', duration(sum('wait'))],
  ].filter(([, value, state]) => state === undefined || value > 0);
  byId('totals').replaceChildren(
    ...facts.map(([name, value, state]) => {
      const fact = make('div', state ?? '');
      fact.append(make('dt', '', name), make('dd', '', String(value)));
      return fact;
    }),
  );
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
