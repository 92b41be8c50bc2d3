import type { FollowUp } from '../agents/module.js';
import { selectRows } from '../store/rows.js';
import { hookTable } from '../store/tables/hooks.js';
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
  /** Returns the statements, and what to do after the commit. */
  fire(hookIds: string[], email: Record<string, unknown>, hops: number): FollowUp;
}

export const MAIL_EVENT = 'email.received';

export const createMailTriggers = (deps: TriggerDeps): MailTriggers => ({
  hooksFor: async ({ userId, accountId, folder }) => {
    const own = { trigger: 'email', enabled: 1 } as const;
    const rows = await selectRows(deps.store.db, hookTable, own, visibleTo(userId)).execute();
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
