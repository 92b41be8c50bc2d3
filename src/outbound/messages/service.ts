import Boom from '@hapi/boom';
import type { Recorder } from '../../kernel/contract/audit.js';
import { orNotFound } from '../../kernel/route.js';
import { messageAttemptTable, outboundMessageTable } from '../../store/tables/outbox.js';
import { viewer } from '../../store/view.js';
import { laneOfMessage } from '../messages.js';
import { ENDPOINT, REPLY } from '../transport.js';
import { MessageAttempt, NoticeMessage, OutboundMessageView } from './contract.js';
import type { ListedMessage, OutboxStore, ShownAttempt } from './queries.js';

export interface MessagesDeps {
  messages: OutboxStore;
  /** Starts a message that was queued again. */
  resent(lane: string): void;
}

/** Throws 409 for other statuses. */
export const resend = async (
  deps: MessagesDeps,
  id: string,
  by: Recorder,
): Promise<OutboundMessageView> => {
  const found = orNotFound(await deps.messages.find(id), 'Message not found');
  const data = { status: found.status, userId: found.user_id };
  if (!(await deps.messages.resend(id, by.record({ target: id, data })))) {
    throw Boom.conflict(
      `Only messages with status failed or unknown can be resent. This message is ${found.status}`,
    );
  }
  deps.resent(laneOfMessage(found));
  return viewOutboundMessage((await deps.messages.find(id)) ?? found);
};

/** Throws 404. */
export const noticeMessages = async (
  { messages }: MessagesDeps,
  userId: string,
  noticeId: string,
): Promise<NoticeMessage[]> => {
  if (!(await messages.hasNotice(userId, noticeId))) {
    throw Boom.notFound('Notification not found');
  }
  const rows = await messages.ofNotice(userId, noticeId);
  const attempts = await messages.attempts(rows.map(({ id }) => id));
  return rows.map((row) => {
    const log = attempts.filter(({ sending_id }) => sending_id === row.id).map(viewAttempt);
    return viewNoticeMessage({ ...row, log });
  });
};

const progress = {
  target: (row: ListedMessage) => row.channel_kind ?? (row.hook_id === null ? ENDPOINT : REPLY),
  nextAttemptAt: (row: ListedMessage) => row.next_at,
};

export const viewOutboundMessage = viewer(outboundMessageTable, OutboundMessageView, {
  ...progress,
  username: ({ username }) => username,
});

type LoggedMessage = ListedMessage & Pick<NoticeMessage, 'log'>;

const viewNoticeMessage = viewer(outboundMessageTable, NoticeMessage, {
  ...progress,
  log: ({ log }: LoggedMessage) => log,
});

const viewAttempt = viewer(messageAttemptTable, MessageAttempt, {
  statusCode: ({ status }: ShownAttempt) => status,
});
