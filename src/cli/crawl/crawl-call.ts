import type {CommandContext} from '../command.ts';
import type {SettingFlags, Settings} from '../read-settings.ts';
import type {Frontier} from '../toolbox-services.ts';

/** The flags of every verb, as they were written. */
export interface CrawlValues extends SettingFlags {
  readonly job: string;
  readonly out?: string | undefined;
  readonly to?: string | undefined;
  readonly sitemap?: string | undefined;
  readonly results?: string | undefined;
  readonly delay?: string | undefined;
  readonly 'per-host'?: string | undefined;
  readonly depth?: string | undefined;
  readonly 'same-site'?: boolean | undefined;
  readonly 'max-pending'?: string | undefined;
  readonly lease?: string | undefined;
  readonly tries?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly json?: boolean | undefined;
}

/** What a verb that speaks with the engine runs with. */
export interface CrawlCall {
  readonly job: string;
  readonly frontier: Frontier;
  readonly settings: Settings;
  readonly context: CommandContext;
}
