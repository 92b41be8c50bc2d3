import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Log } from '../kernel/log.js';
import { orNotFound } from '../kernel/route.js';
import { laneOfMessage } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { OutboundMessageRow } from '../store/tables/outbox.js';
import type { RepliesStore } from './replies/queries.js';
import { viewReply } from './view.js';

/** Throws 404, and 409 for a reply that is under way or was posted. */
export const resendReply = async (
  { replies, resent }: { replies: RepliesStore; resent(lane: string): void },
  { id, replyId }: { id: string; replyId: string },
  by: Caller & Recorder,
): Promise<OutboundMessageRow> => {
  const found = orNotFound(await replies.get(by.userId, id, replyId), 'No reply with that id');
  if (found.object === null) throw Boom.conflict(`${found.error}, so it cannot be resent`);
  const noted = by.record({ target: id, data: { replyId, status: found.status } });
  if (!(await replies.resend(replyId, [noted]))) {
    throw Boom.conflict(
      `Only replies with status failed or unknown can be resent. This reply is ${found.status}`,
    );
  }
  resent(laneOfMessage(found));
  return (await replies.get(by.userId, id, replyId)) ?? found;
};

/** Failures are only logged, since clients also read the list. */
export const publishReply = async (
  { replies, hub, log }: { replies: RepliesStore; hub: Hub; log: Log },
  userId: string,
  id: string,
): Promise<void> => {
  try {
    const row = await replies.byId(userId, id);
    if (row) hub.publish(userId, 'hook.reply', viewReply(row));
  } catch (err) {
    log.warn({ err, reply: id }, 'failed to publish the state of a reply');
  }
};
