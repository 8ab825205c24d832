const FALLBACK = 'forge-webfetch';

interface TokenSettings {
  readonly user_agent: string;
  readonly robots: {readonly user_agent_token: string};
}

/** FR-WF-ROBOTS-UA-TOKEN-01: the configured token, or the product name in `user_agent`. Never empty. */
export function robotsToken({user_agent, robots}: TokenSettings): string {
  if (robots.user_agent_token !== '') return robots.user_agent_token;
  const [product = ''] = user_agent.split('/', 1);
  return product.replace(/[^A-Za-z0-9_-]/g, '') || FALLBACK;
}
