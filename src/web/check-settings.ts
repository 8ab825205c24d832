import {ok, type Result} from '../core/result.ts';
import {readBlockedResources} from './browser/requests/blocked-resources.ts';
import {checkPortSetting, type GuardPolicy} from './guard/guard-policy.ts';
import type {WebFetchOptions} from './options.ts';

export interface CheckSettingsDeps {
  readonly options: Pick<WebFetchOptions, 'browser'>;
  readonly policy: GuardPolicy;
}

/** Ruling A9: these settings are checked at every call, not at start-up. */
export function checkSettings({options, policy}: CheckSettingsDeps): Result<undefined> {
  const ports = checkPortSetting(policy);
  if (!ports.ok) return ports;
  const blocked = readBlockedResources(options.browser.block_resources);
  return blocked.ok ? ok() : blocked;
}
