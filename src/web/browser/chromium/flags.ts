/**
 * Ruling G1, second layer: whatever leaves by a way that cannot be intercepted finds it closed. Names
 * resolve to nothing, and what needs no name goes to a proxy that is not there.
 */
export const CONTAINMENT_FLAGS = [
  // Covers IP literals too.
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://127.0.0.1:9',
  // Without it, loopback bypasses the proxy.
  '--proxy-bypass-list=<-loopback>',
  // The --force-… flag of the same meaning has no effect.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--disable-domain-reliability',
  '--disable-breakpad',
  '--disable-back-forward-cache',
] as const;

/** Only the last --disable-features counts, so there is one. */
const DISABLED_FEATURES = [
  // Everything in a page belongs to the page: no process that starts before it is looked at.
  'IsolateSandboxedIframes',
  'IsolateOrigins',
  'site-per-process',
  // Requests of the browser's own.
  'ServiceWorkerAutoPreload',
  'Prerender2',
  'BackForwardCache',
  'FedCm',
  'AcceptCHFrame',
  'MediaRouter',
  'DialMediaRouteProvider',
  'OptimizationHints',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'NetworkTimeServiceQuerying',
  'InterestFeedContentSuggestions',
  'SegmentationPlatform',
  'Translate',
  // http stays http: which address is fetched is decided by the guard.
  'HttpsUpgrades',
  'HttpsFirstBalancedMode',
  'HttpsFirstBalancedModeAutoEnable',
];

const FUNCTIONAL_FLAGS = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-startup-window',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-default-apps',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  '--disable-site-isolation-trials',
  // No process of its own for what is never shown.
  '--in-process-gpu',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--mute-audio',
  '--password-store=basic',
  '--lang=en-US',
  '--window-size=1280,1024',
  // A page may not take all the memory there is.
  '--js-flags=--max-old-space-size=1024',
] as const;

export interface FlagSettings {
  /** FR-WF-BROWSER-ISO-01: a directory that nobody has used before. */
  readonly profile: string;
  /** Chromium's own sandbox; off only where it cannot start. */
  readonly sandbox: boolean;
  /** The second layer. Off in the test that shows the first one holding alone. */
  readonly contained: boolean;
}

export function chromiumFlags({profile, sandbox, contained}: FlagSettings): readonly string[] {
  return [
    ...FUNCTIONAL_FLAGS,
    ...(contained ? CONTAINMENT_FLAGS : []),
    ...(sandbox ? [] : ['--no-sandbox']),
    `--user-data-dir=${profile}`,
  ];
}
