/** The record of which approvals were read. */
export interface ApprovalsState {
  /** Digests of the calls whose last line was on screen: only those can be approved. */
  seen: readonly string[];
}

export type ApprovalsAction = { type: 'approval.seen'; digest: string };

const MOST = 200;

export const approvals = (): ApprovalsState => ({ seen: [] });

export const reduceApprovals = (
  state: ApprovalsState,
  { digest }: ApprovalsAction,
): ApprovalsState =>
  state.seen.includes(digest) ? state : { seen: [...state.seen, digest].slice(-MOST) };
