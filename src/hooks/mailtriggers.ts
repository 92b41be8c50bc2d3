import type { FollowUp } from '../agents/module.js';
import { selectRows } from '../store/rows.js';
import { type HookRow, hookTable } from '../store/tables/hooks.js';
import { visibleTo } from '../store/visible.js';
import { parseHookRow } from './hook.js';
import { fireStatements, type TriggerDeps } from './triggers.js';

interface MailPlace {
  userId: string;
  accountId: string;
  folder: string;
}

export interface MailTriggers {
  hooksFor(place: MailPlace): Promise<string[]>;
  /** Names of the enabled hooks that only this account fires. */
  boundTo(place: Pick<MailPlace, 'userId' | 'accountId'>): Promise<string[]>;
  /** Returns the statements, and what to do after the commit. */
  fire(hookIds: string[], email: Record<string, unknown>, hops: number): FollowUp;
}

export const MAIL_EVENT = 'email.received';

/** Checked when a hook is saved: a wrong name would stay in the text as written. */
export const MAIL_EVENT_FIELDS = [
  ...(['id', 'accountId', 'folder', 'messageId', 'threadId', 'from', 'fromName', 'to'] as const),
  ...(['cc', 'subject', 'date', 'text', 'isCut', 'automatic', 'category', 'priority'] as const),
  ...(['authentication', 'attachments'] as const),
] as const;
export type MailEventField = (typeof MAIL_EVENT_FIELDS)[number];

const enabledMailHooks = ({ store }: TriggerDeps, userId: string): Promise<HookRow[]> => {
  const own = { trigger: 'email', enabled: 1 } as const;
  return selectRows(store.db, hookTable, own, visibleTo(userId)).execute();
};

export const createMailTriggers = (deps: TriggerDeps): MailTriggers => ({
  boundTo: async ({ userId, accountId }) => {
    const rows = await enabledMailHooks(deps, userId);
    return rows.flatMap((row) =>
      parseHookRow(row).triggerConfig.accountId === accountId ? [row.name] : [],
    );
  },
  hooksFor: async ({ userId, accountId, folder }) => {
    const rows = await enabledMailHooks(deps, userId);
    const isMeant = (given: string | undefined, is: string): boolean => (given ?? is) === is;
    return rows.flatMap((row) => {
      const config = parseHookRow(row).triggerConfig;
      const isFired = isMeant(config.accountId, accountId) && isMeant(config.folder, folder);
      return isFired ? [row.id] : [];
    });
  },
  fire: (hookIds, email, hops) => ({
    statements: hookIds.flatMap(
      (id) => fireStatements(deps, id, { event: MAIL_EVENT, email }, hops).statements,
    ),
    committed: () => {
      for (const id of hookIds) deps.queue.added(id);
    },
  }),
});
