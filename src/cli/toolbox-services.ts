import type * as services from '../create-toolbox/services.ts';

export type {
  Added,
  Finish,
  Frontier,
  FrontierUrl,
  JobSettings,
  JobStatus,
  LeasedUrl,
  Taken,
} from '../create-toolbox/crawl/open-frontier.ts';
export type {SitemapEntry} from '../create-toolbox/crawl/read-sitemaps.ts';
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
export type {ListedUrl, NoUrl} from '../create-toolbox/parse-listed-url.ts';
export type {
  ApprovalManager,
  ListedRun,
  LogCheck,
  PendingApproval,
  Probe,
  UndoRequest,
  WrittenReport,
} from '../create-toolbox/services.ts';

/** What commands need beside a toolbox. Tests hand in their own. */
export type ToolboxServices = typeof services;
