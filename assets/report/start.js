// Start

const MOST_PRINTED = 500;

function openLinked() {
  const call = calls.get(Number(/^#call-(\d+)$/.exec(location.hash)?.[1]));
  if (!call) return;
  call.details.open = true;
  call.head.focus();
  call.row.scrollIntoView();
}

const blocks = [...document.querySelectorAll('script.data')];
const [first, ...rest] = blocks.flatMap(block => block.textContent.split('\n'));
Object.assign(page, JSON.parse(first));
let theme = 'auto';
try {
  theme = localStorage.getItem('forge-report-theme') ?? theme;
} catch {
  // As above.
}
setTheme(THEMES.includes(theme) ? theme : 'auto');
drawHead();
for (const line of rest) take(line);
for (const block of blocks) block.remove();
redraw();
requestAnimationFrame(openLinked);
addEventListener('hashchange', openLinked);

// On paper there is nothing to open.
let opened = [];
addEventListener('beforeprint', () => {
  const all = [...calls.values()].filter(({row}) => !row.hidden).slice(0, MOST_PRINTED);
  opened = [...all.map(({details}) => details), ...byId('net').querySelectorAll('details')].filter(
    ({open}) => !open,
  );
  for (const call of all) showBody(call);
  for (const details of opened) details.open = true;
});
addEventListener('afterprint', () => {
  for (const details of opened) details.open = false;
});

if (page.live) {
  byId('follow-label').hidden = false;
  const source = new EventSource('events');
  source.addEventListener('message', ({data}) => {
    const before = list.childElementCount;
    take(data);
    redraw();
    if (byId('follow').checked && list.childElementCount > before)
      list.lastChild.scrollIntoView({block: 'end'});
  });
  source.addEventListener('open', () => document.body.classList.remove('offline'));
  source.addEventListener('error', () => document.body.classList.add('offline'));
  setInterval(() => {
    if ([...calls.values()].some(({data}) => data.state === 'running')) redraw();
  }, 1000);
}
