import { NoSession, SessionBusy } from '../agents/agent.js';
import type { Chat } from '../agents/chat.js';
import { type Clock, iso } from '../kernel/clock.js';
import { Taken, type TransactionStep } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import { claimEvent } from './events.js';
import type { LinkedChannel } from './links.js';

export interface ConversationDeps {
  store: Store;
  clock: Clock;
  chat: Chat;
}

/** As in `POST /api/chat`. */
const LONGEST = 100_000;

/**
 * What the owner of a channel says there is said in its conversation; the first words begin one. The
 * event is claimed in the transaction of what it does, so a platform's retry of it does nothing.
 * Resolves to what is to be answered at once: nothing, unless it was not taken.
 */
export const sayFrom = async (
  deps: ConversationDeps,
  channel: LinkedChannel,
  { eventId, text }: { eventId: string; text: string },
): Promise<string | null> => {
  if (text.length > LONGEST) return `That is too long: ${LONGEST} characters at most.`;
  const { id: channelId, userId, kind, sessionId } = channel;
  const say = (inSession: string | null) =>
    deps.chat(userId, {
      content: text,
      ...(inSession !== null && { sessionId: inSession }),
      via: {
        ...{ channelId, kind },
        steps: (session) => [
          ...claimEvent(deps, { kind, eventId }),
          goesOnIn(deps.store, { channelId, userId, session }),
        ],
      },
    });
  try {
    await say(sessionId);
  } catch (error) {
    if (error instanceof Taken) return null;
    if (error instanceof SessionBusy) return 'Somebody else is answering there: say it again soon.';
    if (!(error instanceof NoSession)) throw error;
    await say(null);
  }
  return null;
};

const goesOnIn = (
  { db }: Store,
  of: { channelId: string; userId: string; session: string },
): TransactionStep =>
  statement(
    db
      .updateTable('channels')
      .set({ session_id: of.session })
      .where('user_id', '=', of.userId)
      .where('id', '=', of.channelId),
  );

/** The next words begin a new conversation; what is being answered is answered. */
export const beginAnew = async ({ db }: Store, { id, userId }: LinkedChannel): Promise<void> => {
  await db
    .updateTable('channels')
    .set({ session_id: null })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .execute();
};

/** One line: what waits and what is at work. */
export const statusOf = async ({ db }: Store, userId: string, clock: Clock): Promise<string> => {
  const agents = await db
    .selectFrom('agents')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('status', 'in', ['queued', 'running', 'waiting_approval', 'paused'])
    .executeTakeFirst();
  const approvals = await db
    .selectFrom('approvals')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('status', '=', 'pending')
    .where('expires_at', '>', iso(clock.now()))
    .executeTakeFirst();
  return `${agents?.count ?? 0} agents at work, ${approvals?.count ?? 0} approvals wait for you.`;
};
