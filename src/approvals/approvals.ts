import type { Log } from '../kernel/log.js';
import type { PermissionsOf } from '../permissions/effective.js';
import { createDecide, type Decide, type DecidingDeps } from './decide.js';
import { type Admit, createAdmit } from './directcall.js';
import { createExpiry, type Expiry } from './expiry.js';
import { createSpokenAnswer, type SpokenAnswer } from './replytext.js';
import type { AskingDeps } from './request.js';
import { type ApprovalRows, approvalRows } from './rows.js';

/** The requests for approvals and the owner's decisions on them. */
export interface Approvals {
  rows: ApprovalRows;
  decide: Decide;
  /** Admits the owner's direct calls, which have no agent. */
  admit: Admit;
  expiry: Expiry;
  /** Handles messages to an agent that decide on an approval. */
  spoken: SpokenAnswer;
}

export const createApprovals = (
  deps: AskingDeps & Omit<DecidingDeps, 'approvals'> & { permissionsOf: PermissionsOf; log: Log },
): Approvals => {
  const rows = approvalRows(deps.store);
  const all = { ...deps, approvals: rows };
  const decide = createDecide(all);
  return {
    rows,
    decide,
    spoken: createSpokenAnswer({ rows, decide, clock: deps.clock }),
    admit: createAdmit(all),
    expiry: createExpiry(all),
  };
};
