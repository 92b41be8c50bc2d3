import Boom from '@hapi/boom';
import type { Recorder } from '../../kernel/contract/audit.js';
import { ENDPOINT } from '../transport.js';
import type { NoticeSending, SendingView } from './contract.js';
import type { ListedSending, OutboxStore } from './queries.js';

export interface MessagesDeps {
  sendings: OutboxStore;
  /** Called after a job was added to the lane of a target. */
  added(lane: string): void;
}

/** Sends a message again that failed or may not have arrived; throws 409 for any other. */
export const resend = async (
  deps: MessagesDeps,
  id: string,
  by: Recorder,
): Promise<SendingView> => {
  const found = await deps.sendings.find(id);
  if (!found) throw Boom.notFound('No sending with that id');
  const data = { status: found.status, userId: found.user_id };
  if (!(await deps.sendings.resend(id, by.record({ target: id, data })))) {
    throw Boom.conflict(`Only what failed or is unknown goes again; this is ${found.status}`);
  }
  deps.added(found.channel_id ?? found.webhook_id ?? '');
  return viewSending((await deps.sendings.find(id)) ?? found);
};

/**
 * Returns where a notification of the user went; throws 404 if the user has no such notification.
 */
export const noticeSendings = async (
  { sendings }: MessagesDeps,
  userId: string,
  noticeId: string,
): Promise<NoticeSending[]> => {
  if (!(await sendings.hasNotice(userId, noticeId))) {
    throw Boom.notFound('No notification with that id');
  }
  const rows = await sendings.ofNotice(userId, noticeId);
  const attempts = await sendings.attempts(rows.map(({ id }) => id));
  return rows.map((row) => ({
    ...viewProgress(row),
    log: attempts
      .filter(({ sending_id }) => sending_id === row.id)
      .map((attempt) => ({
        number: attempt.number,
        at: attempt.at,
        durationMs: attempt.duration_ms,
        verdict: attempt.verdict,
        statusCode: attempt.status,
        error: attempt.error,
      })),
  }));
};

export const viewSending = (row: ListedSending): SendingView => ({
  ...viewProgress(row),
  userId: row.user_id,
  username: row.username,
});

const viewProgress = (row: ListedSending) => ({
  id: row.id,
  status: row.status,
  kind: row.kind,
  target: row.channel_kind ?? ENDPOINT,
  channelId: row.channel_id,
  webhookId: row.webhook_id,
  attempts: row.attempts,
  nextAttemptAt: row.next_at,
  receipt: row.receipt,
  error: row.error,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});
