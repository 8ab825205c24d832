import type * as services from '../create-toolbox/services.ts';

export type {
  ApprovalDesk,
  LogVerdict,
  PendingApproval,
  Probe,
  UndoRequest,
} from '../create-toolbox/services.ts';

/** What commands need beside a toolbox. Tests hand in their own. */
export type ToolboxServices = typeof services;
