import { SessionBusy } from '../agents/module.js';
import { iso } from '../kernel/clock.js';
import { createSerial } from '../kernel/serial.js';
import type { MessageEvent } from '../providers/chat/platform.js';
import { type DueSource, settleEach } from '../schedule/module.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import { statement } from '../store/store.js';
import {
  addChannelMessage,
  type ConversationDeps,
  MAX_MESSAGE_CHARACTERS,
  MESSAGE_TOO_LONG,
} from './conversation.js';
import { claimEvent } from './events.js';
import type { LinkedChannel, Links } from './links.js';
import { quoteMessage } from './quoted.js';

export interface MessagePartsDeps extends ConversationDeps {
  links: Pick<Links, 'channelById'>;
}

/** Messages that their senders may still continue. */
export interface MessageParts {
  /**
   * Claims the event in the same transaction, so a retry has no effect. Resolves to an immediate
   * reply, or null.
   */
  add(channel: LinkedChannel, event: MessageEvent): Promise<string | null>;
  flush(channelId: string): Promise<void>;
  due: DueSource;
}

/**
 * Apps split a long text into messages within a second, and a forwarded message follows its
 * comment.
 */
const PAUSE_MS = 1000;
const MAX_WAIT_MS = 5000;

export const createMessageParts = (deps: MessagePartsDeps): MessageParts => {
  const { store, clock } = deps;
  const { db } = store;
  const inTurn = createSerial();

  const partsOf = (channelId: string) =>
    db
      .selectFrom('message_parts')
      .select(['id', 'text', 'cut', 'untrusted', 'received_at'])
      .where('channel_id', '=', channelId)
      .orderBy('id')
      .execute();

  const say = async (channelId: string): Promise<void> => {
    const parts = await partsOf(channelId);
    const channel = parts.length > 0 ? await deps.links.channelById(channelId) : null;
    for (const group of joined(parts)) {
      const gone = db.deleteFrom('message_parts').where('id', 'in', group.ids);
      if (!channel) await gone.execute();
      else await addChannelMessage(deps, channel, { ...group, steps: [statement(gone)] });
    }
  };

  return {
    add: (channel, event) =>
      inTurn(channel.id, async () => {
        if (event.text.length > MAX_MESSAGE_CHARACTERS) return MESSAGE_TOO_LONG;
        const { text, isUntrusted } = await quoteMessage(deps, channel, event);
        const now = clock.now();
        const [first] = await partsOf(channel.id);
        const latest = first
          ? Date.parse(first.received_at) + MAX_WAIT_MS
          : Number.POSITIVE_INFINITY;
        const part = {
          channel_id: channel.id,
          text,
          cut: event.isCut ? 1 : 0,
          untrusted: isUntrusted ? 1 : 0,
          received_at: iso(now),
          due_at: iso(Math.min(now + PAUSE_MS, latest)),
        };
        try {
          await store.transact([
            ...claimEvent(deps, { kind: channel.kind, eventId: event.eventId }),
            statement(db.insertInto('message_parts').values(part), 1),
          ]);
        } catch (error) {
          if (!(error instanceof UniqueViolation)) throw error;
        }
        return null;
      }),
    flush: (channelId) => inTurn(channelId, () => say(channelId)),
    due: {
      name: 'chat messages',
      nextAt: async () => {
        const [next] = await waiting(deps).limit(1).execute();
        return next?.due_at ?? null;
      },
      tick: async () => {
        const rows = await waiting(deps).having(dueAt(deps), '<=', iso(clock.now())).execute();
        await settleEach(rows, ({ channel_id: channelId }) =>
          // An agent of another conversation is running: retried later.
          inTurn(channelId, () => say(channelId)).catch(unlessBusy),
        );
      },
    },
  };
};

const unlessBusy = (error: unknown): void => {
  if (!(error instanceof SessionBusy)) throw error;
};

const dueAt = ({ store: { db } }: ConversationDeps) => db.fn.max('due_at');

const waiting = ({ store: { db } }: ConversationDeps) =>
  db
    .selectFrom('message_parts')
    .select((of) => ['channel_id', of.fn.max('due_at').as('due_at')])
    .groupBy('channel_id')
    .orderBy('due_at');

interface MessagePart {
  id: number;
  text: string;
  cut: number;
  untrusted: number;
}

interface JoinedParts {
  ids: number[];
  text: string;
  isUntrusted: boolean;
}

const joined = (parts: MessagePart[]): JoinedParts[] => {
  const groups: (JoinedParts & { isCut: boolean })[] = [];
  for (const { id, text, cut, untrusted } of parts) {
    const last = groups.at(-1);
    const more = last && `${last.text}${last.isCut ? '' : '\n'}${text}`;
    const isCut = cut === 1;
    if (last && more !== undefined && more.length <= MAX_MESSAGE_CHARACTERS) {
      last.ids.push(id);
      Object.assign(last, { text: more, isCut, isUntrusted: last.isUntrusted || untrusted === 1 });
    } else groups.push({ ids: [id], text, isCut, isUntrusted: untrusted === 1 });
  }
  return groups;
};
