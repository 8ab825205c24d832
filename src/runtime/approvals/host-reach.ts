import {toUrl} from '../../core/text/to-url.ts';
import type {ApprovalSubject, HostDecision} from '../../core/tool.ts';
import type {CompiledRule} from './rules/compile-rule.ts';

export interface ReachDeps {
  /** The addresses of the call. Their hosts were decided about with the call itself. */
  readonly subject: ApprovalSubject;
  /** The rules on hosts that are about the tool. */
  readonly about: readonly CompiledRule[];
  /** Where `allow` rules decided about the call: those rules. It stays within their hosts then. */
  readonly within: readonly CompiledRule[] | undefined;
}

/**
 * Review R11: rules on hosts hold wherever a call is led, by a redirect, by a page that moves on and by what the
 * page loads. Nobody can be asked half-way, so a host with an `ask` rule is refused there: it can be asked
 * about when it is fetched by itself.
 */
export function hostReach({subject, about, within}: ReachDeps): (host: string) => HostDecision {
  const own = new Set(subject.values.map(hostOf));
  return host => {
    const url = addressOf(host);
    if (own.has(hostOf(url))) return {allowed: true};
    for (const decision of ['deny', 'ask'] as const) {
      const rule = about.find(known => known.decision === decision && known.matches(url));
      if (rule !== undefined) return {allowed: false, reason: reasonOf(rule)};
    }
    if (within === undefined || within.some(rule => rule.matches(url))) return {allowed: true};
    return {allowed: false, reason: 'The call was allowed by a rule, and no rule allows this host.'};
  };
}

function reasonOf({decision, name, reason}: CompiledRule): string {
  if (decision === 'deny') return reason === '' ? `${name} denies it.` : `${name} denies it: ${reason}`;
  return `${name} asks about it, and a fetch that is under way cannot ask. Fetch that address in a call of its own.`;
}

/** A name, a name with a port, or an IPv6 address with or without brackets. */
function addressOf(host: string): string {
  const isBareIpv6 = !host.startsWith('[') && host.split(':').length > 2;
  return `http://${isBareIpv6 ? `[${host}]` : host}/`;
}

function hostOf(url: string): string {
  return toUrl(url)?.hostname.replace(/\.$/, '') ?? url;
}
