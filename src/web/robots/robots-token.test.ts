import {expect, test} from 'vitest';
import {robotsToken} from './robots-token.ts';

const derive = (user_agent: string, user_agent_token = ''): string =>
  robotsToken({user_agent, robots: {user_agent_token}});

test('T-WF-ROB-14 the token is derived from user_agent where none is set', () => {
  expect(derive('forge-webfetch/1.0')).toBe('forge-webfetch');
  expect(derive('My Bot (beta)/2.0 (+https://example.com/)')).toBe('MyBotbeta');
  expect(derive('plain')).toBe('plain');
  expect(derive('/1.0')).toBe('forge-webfetch');
  expect(derive('')).toBe('forge-webfetch');
});

test('FR-WF-ROBOTS-UA-TOKEN-01 a token that is set is taken as it is', () => {
  expect(derive('other/1.0', 'my-token')).toBe('my-token');
});
