// Theme and keys

const THEMES = ['auto', 'light', 'dark'];
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem('forge-report-theme', theme);
  } catch {
    // A page from a file may have no storage.
  }
}
function nextTheme() {
  const now = THEMES.indexOf(document.documentElement.dataset.theme);
  setTheme(THEMES[(now + 1) % THEMES.length]);
}
byId('theme').addEventListener('click', nextTheme);
byId('help').addEventListener('click', () => byId('keys').showModal());
byId('keys-close').addEventListener('click', () => byId('keys').close());

/** Goes to the next call that is shown, and that `wanted` wants. */
function move(by, wanted = () => true) {
  const rows = [...calls.values()].filter(call => !call.row.hidden);
  const focused = document.activeElement?.closest?.('li.call');
  const at = rows.findIndex(({row}) => row === focused);
  const start = at === -1 && by < 0 ? rows.length : at;
  for (let next = start + by; next >= 0 && next < rows.length; next += by) {
    if (!wanted(rows[next].data)) continue;
    rows[next].head.focus();
    rows[next].head.scrollIntoView({block: 'nearest'});
    return;
  }
}
function withFocused(act) {
  const row = document.activeElement?.closest?.('li.call');
  const call = [...calls.values()].find(one => one.row === row);
  if (call) act(call);
}
const isTrouble = ({state}) => state !== 'success' && state !== 'running';

const KEYS = {
  '/': () => byId('search').focus(),
  '?': () => byId('keys').showModal(),
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  n: () => move(1, isTrouble),
  p: () => move(-1, isTrouble),
  t: nextTheme,
  '+': () => zoomBy(0.5),
  '=': () => zoomBy(0.5),
  '-': () => zoomBy(2),
  0: () => show(0, 1),
  h: () => pan(-0.25),
  l: () => pan(0.25),
  z: () => withFocused(zoomTo),
  c: () =>
    withFocused(call => {
      call.details.open = true;
      showBody(call);
      copyLink(call, call.inside.querySelector('.copy'));
    }),
};

document.addEventListener('keydown', event => {
  const {target, key} = event;
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
  if (key === 'Escape') {
    if (target === byId('search')) target.blur();
    const row = target.closest?.('li.call');
    if (row) {
      row.firstChild.open = false;
      row.querySelector('summary').focus();
    }
    return;
  }
  if (target === byId('search') && (key === 'Enter' || key === 'ArrowDown')) {
    event.preventDefault();
    move(1);
    return;
  }
  if (/^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  // Inside of an open call the arrows scroll.
  if (key.startsWith('Arrow') && target.tagName !== 'SUMMARY' && target !== document.body) return;
  const act = KEYS[key];
  if (act === undefined) return;
  event.preventDefault();
  act();
});
