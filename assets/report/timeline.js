// Time: from milliseconds to a place between 0 and 1, with or without the pauses between calls.

const calls = new Map();
let places = [];

function buildScale() {
  const spans = [...calls.values()].map(({data}) => [data.start, endOf(data)]).sort((a, b) => a[0] - b[0]);
  const busy = [];
  for (const [from, to] of spans) {
    const last = busy.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else busy.push([from, to]);
  }
  const first = busy[0]?.[0] ?? 0;
  const total = Math.max(1, (busy.at(-1)?.[1] ?? first) - first);
  const work = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  if (!byId('pauses').dataset.chosen) byId('pauses').checked = work < total / 2 && busy.length > 1;
  // A pause that is cut is as wide as a fiftieth of the work, however long it was.
  const longest = byId('pauses').checked ? Math.max(1, work / 50) : total;
  places = [];
  let at = 0;
  for (const [index, [from, to]] of busy.entries()) {
    const pause = index === 0 ? 0 : from - busy[index - 1][1];
    at += Math.min(pause, longest);
    places.push({from, to, at, pause, isCut: pause > longest});
    at += to - from;
  }
  for (const place of places) place.all = Math.max(1, at);
}

function placeOf(time) {
  let low = 0;
  let high = places.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (places[middle].from <= time) low = middle;
    else high = middle - 1;
  }
  const {from, to, at, all} = places[low];
  return (at + Math.max(0, Math.min(time, to) - from)) / all;
}

function timeAt(share) {
  const {all} = places[0];
  const wanted = share * all;
  const index = Math.max(
    0,
    places.findLastIndex(({at}) => at <= wanted),
  );
  const {from, to, at} = places[index];
  const next = places[index + 1];
  const behind = wanted - at - (to - from);
  if (behind <= 0 || !next) return Math.min(to, from + wanted - at);
  // In a pause, which may be narrower than it was long.
  return to + (behind * next.pause) / Math.max(1e-9, next.at - at - (to - from));
}

function endOf(data) {
  if (data.end !== null) return data.end;
  return data.state === 'running' && page.live ? Math.max(data.start, Date.now()) : page.lastAt;
}

function drawAxis() {
  const track = byId('axis').querySelector('.track');
  track.textContent = '';
  byId('zoom').hidden = places.length === 0;
  byId('zoom-all').hidden = !isZoomed();
  if (places.length === 0) return;
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const time = timeAt(view.from + share * (view.to - view.from)) - places[0].from;
    const tick = make('span', 'tick', duration(Math.max(0, time)));
    tick.style.left = `${share * 100}%`;
    track.append(tick);
  }
  for (const {from, at, pause, isCut, all} of places) {
    const share = inView(at / all);
    if (!isCut || share < 0 || share > 1) continue;
    const gap = make('span', 'gap');
    gap.title = `a pause of ${duration(pause)} is cut before ${new Date(from).toISOString()}`;
    gap.style.left = `${share * 100}%`;
    track.append(gap);
  }
}

function drawLane({data, lane}) {
  const end = endOf(data);
  const bars = [['run', data.start, end], ...data.waits.map(([from, to]) => ['wait', from, to ?? end])];
  while (lane.children.length > bars.length) lane.lastChild.remove();
  for (const [index, [kind, from, to]] of bars.entries()) {
    const bar = lane.children[index] ?? lane.appendChild(make('span'));
    const left = inView(placeOf(from));
    const right = inView(placeOf(to));
    bar.className = `bar ${kind} ${data.state}`;
    bar.hidden = right < 0 || left > 1;
    bar.style.left = `${(Math.max(0, left) * 100).toFixed(3)}%`;
    bar.style.width = `${((Math.min(1, right) - Math.max(0, left)) * 100).toFixed(3)}%`;
  }
}

let isDrawing = false;
function redraw() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    buildScale();
    drawAxis();
    for (const call of calls.values()) drawLane(call);
    drawTotals();
    applyFilters();
  });
}
