import {parseRobots, parseRobotsBytes} from '../../../dist/web/robots/robots.js';
import {normalizePath, normalizePattern} from '../../../dist/web/robots/rules.js';
import {expectThat} from '../expect-that.js';

/** Ruling B4: any bytes are a robots.txt, and its index decides as a look at every rule does. */
function check(bytes) {
  const end = bytes.indexOf(10);
  const path = normalizePath(`/${Buffer.from(bytes.subarray(0, Math.max(0, end))).toString('utf8')}`);
  const file = bytes.subarray(end + 1);
  parseRobotsBytes(file, true);
  const robots = parseRobotsBytes(file, false);
  const text = Buffer.from(file).toString('utf8');
  parseRobots(text);
  const rules = robots.groups.flatMap(group => group.rules);
  for (const {pattern} of rules)
    expectThat(/^[/*]/.test(pattern), 'a pattern that can match nothing', pattern);
  for (const token of ['forge-webfetch', 'bot']) {
    const {allowed} = robots.rulesFor(token).decide(path);
    const chosen = chooseGroup(robots.groups, token);
    expectThat(allowed === decideByAllRules(chosen, path), 'the index decides otherwise', {
      token,
      path,
      chosen,
      allowed,
    });
  }
}

function chooseGroup(groups, token) {
  const lines = groups.flatMap(group => group.agents.map(agent => ({agent, group})));
  const own = lines.filter(({agent}) => agent !== '*' && agent.toLowerCase().includes(token));
  const longest = own.reduce(
    (best, one) => (one.agent.length > (best?.agent.length ?? 0) ? one : best),
    undefined,
  );
  return (longest ?? lines.find(({agent}) => agent === '*'))?.group.rules ?? [];
}

function decideByAllRules(rules, path) {
  let weight = 0;
  for (const {allow, pattern: written} of rules) {
    const {pattern, length} = normalizePattern(written);
    const own = 2 * length + (allow ? 1 : 0);
    if (own > weight && matches(pattern, path)) weight = own;
  }
  return weight === 0 || weight % 2 === 1;
}

/** By the table of all positions. */
function matches(pattern, path) {
  const isWhole = pattern.endsWith('$');
  const body = isWhole ? pattern.slice(0, -1) : pattern;
  let reached = new Set([0]);
  for (const character of body) {
    const next = new Set();
    for (const at of reached) {
      if (character === '*') for (let to = at; to <= path.length; to += 1) next.add(to);
      else if (path[at] === character) next.add(at + 1);
    }
    reached = next;
  }
  return isWhole ? reached.has(path.length) : reached.size > 0;
}

export const target = {
  check,
  modules: ['/dist/web/robots/'],
  maxLength: 1024,
  seeds: [
    'a/b.html\nUser-agent: *\nDisallow: /a\nAllow: /a/b$\n',
    'private/x\nUser-agent: forge-webfetch\nUser-agent: bot\nDisallow: /*x$\n\nUser-agent: *\nDisallow: /\n',
    '%7ea%2f\nuser-agent:bot\r\ndisallow:/~a%2F # c\r\nsitemap: x\r\nallow: *a*b*\r\n',
    'aaaaaaaab\nUser-agent: *\nDisallow: /a*a*a*b\nDisallow: /aab\nAllow: *aaab\n',
  ],
  // biome-ignore format: a list
  tokens: [
    'User-agent: ', 'Disallow: ', 'Allow: ', 'Sitemap: ', 'Crawl-delay: 1', '*', '$', '/', '#', ':', '\n',
    '\r\n', '\r', ' ', '\t', '%2F', '%7e', '%', '%zz', 'forge-webfetch', 'bot', 'é', '😀', '\0', '\ufeff',
    'aaa', '/*', '*/',
  ],
};
