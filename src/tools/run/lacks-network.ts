export const NO_NETWORK = '[commands have no network]';

/** Where there is a way out, and a program did not take it. */
export const ONLY_BY_PROXY = '[commands reach hosts by the proxy in HTTPS_PROXY only]';

/** What resolvers, Node, git, curl, pip, cargo and Go say of a name that nobody could look up. */
const LOOK_UP_FAILED =
  /Temporary failure in name resolution|Could not resolve (?:host|proxy)|Name or service not known|No address associated with hostname|nodename nor servname|\bEAI_AGAIN\b|\bENOTFOUND\b|getaddrinfo\b.{0,80}\bfail|failed to lookup address|Temporary failure resolving|\bdial tcp: lookup\b|bad address '/i;

/** Whether a command failed for want of a network: its own words do not say that there is none at all. */
export function lacksNetwork(stderr: string): boolean {
  return LOOK_UP_FAILED.test(stderr);
}
