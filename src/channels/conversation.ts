import { type Chat, SessionNotFound, taint } from '../agents/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { StageQuestions } from '../pipelines/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import { decidableBy, visibleTo } from '../store/visible.js';
import type { LinkedChannel } from './links.js';

export interface ConversationDeps {
  store: Store;
  clock: Clock;
  chat: Chat;
}

interface StatusDeps extends Pick<ConversationDeps, 'store' | 'clock'> {
  stages: Pick<StageQuestions, 'count'>;
}

/** As in `POST /api/chat`. */
export const MAX_MESSAGE_CHARACTERS = 100_000;
export const MESSAGE_TOO_LONG = `The message is too long. The maximum is ${MAX_MESSAGE_CHARACTERS} characters.`;

interface ChannelWords {
  text: string;
  steps: TransactionStep[];
  /** True if it contains text of other people. */
  isUntrusted?: boolean;
}

/** The first message starts a conversation. Throws SessionBusy, and Taken by its steps. */
export const addChannelMessage = async (
  deps: ConversationDeps,
  channel: LinkedChannel,
  { text, steps, isUntrusted = false }: ChannelWords,
): Promise<void> => {
  const { id: channelId, userId, kind, sessionId } = channel;
  const say = (inSession: string | null) =>
    deps.chat(userId, {
      content: text,
      ...(inSession !== null && { sessionId: inSession }),
      via: {
        channelId,
        kind,
        steps: (session) => [
          ...steps,
          statement(goOnIn(deps.store, channel, session)),
          ...(isUntrusted ? taint(deps.store, { session_id: session }) : []),
        ],
      },
    });
  try {
    await say(sessionId);
  } catch (error) {
    if (!(error instanceof SessionNotFound)) throw error;
    await say(null);
  }
};

/** A running prompt still gets its reply. */
export const leaveConversation = async (store: Store, channel: LinkedChannel): Promise<void> => {
  await goOnIn(store, channel, null).execute();
};

const goOnIn = ({ db }: Store, { id, userId }: LinkedChannel, session_id: string | null) =>
  db.updateTable('channels').set({ session_id }).where(visibleTo(userId)).where('id', '=', id);

export const formatStatus = async (
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
    .where(decidableBy(userId))
    .where('status', '=', 'pending')
    .where('expires_at', '>', iso(clock.now()))
    .executeTakeFirst();
  const waiting = await stages.count(userId);
  return [
    `${agents?.count ?? 0} agents running, ${approvals?.count ?? 0} approvals pending`,
    waiting === 0 ? '.' : `, ${waiting} pipeline ${waiting === 1 ? 'stage' : 'stages'} waiting.`,
  ].join('');
};
