// Names what commands need beside a toolbox, and loads it when a command asks.
import type * as services from '../create-toolbox/services.ts';

export type {
  Added,
  Finish,
  Frontier,
  FrontierUrl,
  JobSettings,
  JobStatus,
  LeasedUrl,
  ListedUrl,
  NoUrl,
  SitemapEntry,
  Taken,
} from '../create-toolbox/crawl.ts';
export type {
  CachedPage,
  CacheEntry,
  CacheStats,
  PageCache,
  Removal,
} from '../create-toolbox/open-page-cache.ts';
export type {
  Outline,
  OutlineSection,
  PageReader,
  ReadPage,
  VerifyQuoteData,
  WebReadArgs,
} from '../create-toolbox/open-page-reader.ts';
export type {
  ApprovalManager,
  ListedRun,
  LogCheck,
  PendingApproval,
  UndoRequest,
  WrittenReport,
} from '../create-toolbox/services.ts';

/** What commands need beside a toolbox. Tests hand in their own. */
export type ToolboxServices = typeof services;

/** What commands do to runs and machines without a toolbox, loaded when a command needs it. */
export function loadServices(): Promise<ToolboxServices> {
  return import('../create-toolbox/services.ts');
}
