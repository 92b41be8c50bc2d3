import Boom from '@hapi/boom';
import type { Recorder } from '../../kernel/contract/audit.js';
import { orNotFound } from '../../kernel/route.js';
import { sendingAttemptTable, sendingTable } from '../../store/tables/outbox.js';
import { viewer } from '../../store/view.js';
import { ENDPOINT } from '../transport.js';
import { NoticeSending, SendingAttempt, SendingView } from './contract.js';
import type { ListedSending, OutboxStore, ShownAttempt } from './queries.js';

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
  const found = orNotFound(await deps.sendings.find(id), 'No sending with that id');
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
  return rows.map((row) => {
    const log = attempts.filter(({ sending_id }) => sending_id === row.id).map(viewAttempt);
    return viewNoticeSending({ ...row, log });
  });
};

const progress = {
  target: (row: ListedSending) => row.channel_kind ?? ENDPOINT,
  nextAttemptAt: (row: ListedSending) => row.next_at,
};

export const viewSending = viewer(sendingTable, SendingView, {
  ...progress,
  username: ({ username }) => username,
});

type LoggedSending = ListedSending & Pick<NoticeSending, 'log'>;

const viewNoticeSending = viewer(sendingTable, NoticeSending, {
  ...progress,
  log: ({ log }: LoggedSending) => log,
});

const viewAttempt = viewer(sendingAttemptTable, SendingAttempt, {
  statusCode: ({ status }: ShownAttempt) => status,
});
