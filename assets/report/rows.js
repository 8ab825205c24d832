// Rows

function addRow(data, line) {
  const row = make('li', 'call');
  const details = make('details');
  const head = make('summary');
  const cells = {};
  for (const name of ['step', 'mark', 'tool', 'about', 'why', 'hit', 'time', 'lane']) {
    cells[name] = make('span', name);
    head.append(cells[name]);
  }
  const inside = make('div', 'inside');
  details.append(head, inside);
  row.append(details);
  row.id = `call-${data.step}`;
  const call = {data, line, row, details, head, inside, lane: cells.lane, cells, text: undefined, shown: ''};
  details.addEventListener('toggle', () => {
    if (details.open) {
      showBody(call);
      cells.hit.textContent = '';
    }
    highlight();
    paint();
  });
  calls.set(data.step, call);
  list.append(row);
  return call;
}

function fillRow(call) {
  const {data, cells, row} = call;
  const [mark, state] = STATES[data.state] ?? ['?', data.state];
  row.dataset.state = data.state;
  cells.step.textContent = data.step;
  cells.mark.textContent = mark;
  cells.mark.title = state;
  cells.mark.setAttribute('role', 'img');
  cells.mark.setAttribute('aria-label', state);
  cells.tool.textContent = data.tool;
  cells.about.textContent = data.title === null ? data.summary : `${data.title} · ${data.summary}`;
  cells.why.textContent = data.by === null ? (data.error ?? '') : `${data.error}: ${data.by}`;
  const waited = data.wait > 0 ? `, waited ${duration(data.wait * 1000)}` : '';
  const time = data.run === null ? state : duration(data.run * 1000);
  cells.time.textContent = data.tokens > 0 ? `${count(data.tokens, 'token')} · ${time}` : time;
  cells.time.title = `${new Date(data.start).toISOString()}${waited}`;
}

function showBody(call) {
  if (call.shown === call.line) return;
  call.shown = call.line;
  call.inside.replaceChildren(linkButton(call), build(JSON.parse(call.line).body));
  // How a command went is at the end of what it wrote.
  for (const output of call.inside.querySelectorAll('pre.output')) output.scrollTop = output.scrollHeight;
}

function linkButton(call) {
  const button = make('button', 'copy', 'Copy link');
  button.type = 'button';
  button.addEventListener('click', () => copyLink(call, button));
  return button;
}

/** Where the browser lets nobody at its clipboard, the link is in the address bar. */
async function copyLink({row}, button) {
  const url = new URL(`#${row.id}`, location.href).href;
  try {
    await navigator.clipboard.writeText(url);
    button.textContent = 'Copied';
  } catch {
    history.replaceState(null, '', url);
    button.textContent = 'It is in the address bar';
  }
}

/** A line of data: the net change, the state of the run, something that happened to it, or a call, new or changed. */
function take(line) {
  const data = JSON.parse(line);
  if (data.net) {
    drawNet(data);
  } else if (data.head) {
    page.head = data.head;
    drawHead();
  } else if (data.incident !== undefined) {
    if (byId(`incident-${data.incident}`)) return;
    page.lastAt = Math.max(page.lastAt, data.at);
    const row = make('li', 'incident', `${new Date(data.at).toISOString().slice(11, 19)} UTC · ${data.text}`);
    row.id = `incident-${data.incident}`;
    list.append(row);
  } else {
    delete data.body;
    page.lastAt = Math.max(page.lastAt, data.end ?? data.start);
    const call = calls.get(data.step) ?? addRow(data, line);
    Object.assign(call, {data, line, text: undefined});
    fillRow(call);
    if (call.details.open) {
      showBody(call);
      paint();
    }
  }
}
