import type { MessageEvent } from '../providers/chat/platform.js';
import type { Store } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import type { LinkedChannel } from './links.js';
import type { MessageContent } from './messagetext.js';

interface QuotingMessage {
  text: string;
  /** True if it contains text that is neither the sender's nor the agents' in this conversation. */
  isUntrusted: boolean;
}

const MAX_QUOTE_LENGTH = 2000;

/**
 * Quotes with `>`. Messages of the daemon are found by their platform id. Notifications contain
 * untrusted text.
 */
export const quoteMessage = async (
  { store }: { store: Store },
  channel: LinkedChannel,
  { text, quoted }: Pick<MessageEvent, 'text' | 'quoted'>,
): Promise<QuotingMessage> => {
  if (!quoted) return { text, isUntrusted: false };
  const { by, receipt } = quoted;
  const sent =
    by !== 'sender' && by !== 'other' && receipt !== undefined
      ? await findSent(store, channel, receipt)
      : undefined;
  const words = quoted.text || (sent ? sent.text : '');
  if (words === '') return { text: `${HEADS.unknown}\n\n${text}`, isUntrusted: false };
  const isCut = words.length > MAX_QUOTE_LENGTH;
  const lines = `${words.slice(0, MAX_QUOTE_LENGTH)}${isCut ? ' …' : ''}`.split(/\r\n?|\n/);
  const quote = lines.map((line) => `> ${line}`).join('\n');
  const head = HEADS[by ?? (sent ? 'daemon' : 'sender')];
  return {
    text: `${head}\n${quote}\n\n${text}`,
    isUntrusted: by === 'other' || sent?.isNotice === true,
  };
};

const HEADS = {
  daemon: '[In reply to a message from Adjutant:]',
  sender: '[In reply to an earlier message from the same person:]',
  other: '[In reply to a message from another person:]',
  unknown: '[In reply to an earlier message whose text is not available]',
};

const findSent = async (
  { db }: Store,
  { id: channelId, userId }: LinkedChannel,
  receipt: string,
): Promise<{ text: string; isNotice: boolean } | undefined> => {
  const parts = db.selectFrom('sending_parts').select('sending_id');
  const row = await db
    .selectFrom('sendings')
    .select('content')
    .where(visibleTo(userId))
    .where('channel_id', '=', channelId)
    .where('status', '=', 'sent')
    .where((of) =>
      of.or([of('receipt', '=', receipt), of('id', 'in', parts.where('receipt', '=', receipt))]),
    )
    .executeTakeFirst();
  if (!row) return undefined;
  const { title = null, body }: MessageContent = JSON.parse(row.content);
  const text = [title, body].filter(Boolean).join('\n');
  return { text, isNotice: title !== null };
};
