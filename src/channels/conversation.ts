import { type Chat, NoSession, SessionBusy } from '../agents/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { StageQuestions } from '../pipelines/module.js';
import { Taken } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import { claimEvent } from './events.js';
import type { LinkedChannel } from './links.js';

export interface ConversationDeps {
  store: Store;
  clock: Clock;
  chat: Chat;
}

interface StatusDeps extends Pick<ConversationDeps, 'store' | 'clock'> {
  stages: Pick<StageQuestions, 'count'>;
}

/** Longest message, in characters, as in `POST /api/chat`. */
const LONGEST = 100_000;

/**
 * Adds a message of a channel's owner to the channel's conversation; the first message begins one.
 * The event is claimed in the same transaction, so a retry by the platform has no effect. Resolves
 * to the text for an immediate reply; null unless the message was refused.
 */
export const addChannelMessage = async (
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
        channelId,
        kind,
        steps: (session) => [
          ...claimEvent(deps, { kind, eventId }),
          statement(goOnIn(deps.store, channel, session)),
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

/**
 * Makes the next message begin a new conversation. A prompt that is being processed still gets its
 * reply.
 */
export const leaveConversation = async (store: Store, channel: LinkedChannel): Promise<void> => {
  await goOnIn(store, channel, null).execute();
};

const goOnIn = ({ db }: Store, { id, userId }: LinkedChannel, session_id: string | null) =>
  db.updateTable('channels').set({ session_id }).where(visibleTo(userId)).where('id', '=', id);

/** Describes in one line how many agents and questions to the owner are open. */
export const statusOf = async (
  { store: { db }, clock, stages }: StatusDeps,
  userId: string,
): Promise<string> => {
  const agents = await db
    .selectFrom('agents')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where(visibleTo(userId))
    .where('status', 'in', ['queued', 'running', 'waiting_approval', 'paused'])
    .executeTakeFirst();
  const approvals = await db
    .selectFrom('approvals')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where(visibleTo(userId))
    .where('status', '=', 'pending')
    .where('expires_at', '>', iso(clock.now()))
    .executeTakeFirst();
  const waiting = await stages.count(userId);
  return [
    `${agents?.count ?? 0} agents at work, ${approvals?.count ?? 0} approvals wait for you`,
    waiting === 0 ? '.' : `, and ${waiting} ${waiting === 1 ? 'stage' : 'stages'} of pipelines.`,
  ].join('');
};
