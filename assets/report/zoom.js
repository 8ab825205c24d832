// The part of the time that the timeline shows, from and to as shares of the whole

const view = {from: 0, to: 1};
const NARROWEST = 1e-5;

function show(from, to) {
  const width = Math.min(1, Math.max(NARROWEST, to - from));
  view.from = Math.min(1 - width, Math.max(0, from));
  view.to = view.from + width;
  redraw();
}

/** Keeps what is at `at` where it is. */
function zoomBy(factor, at = (view.from + view.to) / 2) {
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function pan(by) {
  const step = (view.to - view.from) * by;
  show(view.from + step, view.to + step);
}

function zoomTo(call) {
  const from = placeOf(call.data.start);
  const to = placeOf(endOf(call.data));
  const margin = Math.max(NARROWEST, (to - from) * 0.1);
  show(from - margin, to + margin);
}

/** Of the whole, in what is shown now: below 0 and above 1 is outside. */
function inView(share) {
  return (share - view.from) / (view.to - view.from);
}

function isZoomed() {
  return view.to - view.from < 1;
}

byId('zoom-in').addEventListener('click', () => zoomBy(0.5));
byId('zoom-out').addEventListener('click', () => zoomBy(2));
byId('zoom-all').addEventListener('click', () => show(0, 1));

{
  const track = byId('axis').querySelector('.track');
  const chosen = make('span', 'chosen');
  let start;
  const shareAt = event => {
    const {left, width} = track.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width));
  };
  const stop = () => {
    start = undefined;
    chosen.remove();
  };
  track.addEventListener('pointerdown', event => {
    start = shareAt(event);
    track.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  track.addEventListener('pointermove', event => {
    if (start === undefined) return;
    const at = shareAt(event);
    chosen.style.left = `${Math.min(start, at) * 100}%`;
    chosen.style.width = `${Math.abs(at - start) * 100}%`;
    track.append(chosen);
  });
  track.addEventListener('pointerup', event => {
    if (start === undefined) return;
    const [from, to] = [start, shareAt(event)].sort((a, b) => a - b);
    stop();
    // A click is no part of the time.
    if (to - from < 0.01) return;
    const width = view.to - view.from;
    show(view.from + from * width, view.from + to * width);
  });
  track.addEventListener('pointercancel', stop);
  track.addEventListener('dblclick', () => show(0, 1));
}
