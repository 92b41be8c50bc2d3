import { SHORT_DIGEST } from '../approvals/replytext.js';
import type { ChannelMessage } from '../providers/chat/platform.js';
import type { Store } from '../store/store.js';
import type { SendingRow } from '../store/tables/outbox.js';
import type { ApprovalRow } from '../store/tables/permissions.js';

/** What a sending to a channel says: a notice has a title and a link, an answer is its text alone. */
export interface SaidContent {
  title?: string | null;
  body: string;
  /** Path of the API that shows what it is about. */
  link?: string | null;
}

const APPROVAL = /^\/api\/chat\/approvals\/(\w+)$/;
/** Of all calls of one answer. */
const APPROVALS = /^\/api\/chat\/approvals\?status=pending&agentId=(\w+)$/;
/** The message of a sending. A call that waits for its owner's word is shown whole, as it is now. */
export const messageOf = async (store: Store, sending: SendingRow): Promise<ChannelMessage> => {
  const { title = null, body, link }: SaidContent = JSON.parse(sending.content);
  const agentId = APPROVALS.exec(link ?? '')?.[1];
  if (agentId !== undefined) return messageOfAll(store, sending.user_id, { agentId, title });
  const approvalId = APPROVAL.exec(link ?? '')?.[1];
  const asked = approvalId && (await findApproval(store, sending.user_id, approvalId));
  if (!asked) return { title, text: body };
  if (asked.status !== 'pending') return { title, text: `It was ${asked.status} meanwhile.` };
  const { id, digest } = asked;
  return { title, text: textOf(asked), question: { approvalId: id, digest } };
};

/** Several calls are answered by their digests: a button would not say which it is for. */
const messageOfAll = async (
  store: Store,
  userId: string,
  { agentId, title }: { agentId: string; title: string | null },
): Promise<ChannelMessage> => {
  const asked = await ownApprovals(store, userId)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending')
    .orderBy('id')
    .execute();
  const texts = asked.length > 0 ? asked.map(textOf) : ['All of it was answered meanwhile.'];
  return { title, text: texts.join('\n\n') };
};

const findApproval = (store: Store, userId: string, id: string) =>
  ownApprovals(store, userId).where('id', '=', id).executeTakeFirst();

const ownApprovals = ({ db }: Store, userId: string) =>
  db
    .selectFrom('approvals')
    .select(['id', 'tool', 'action', 'arguments', 'digest', 'reason', 'untrusted', 'status'])
    .select('expires_at')
    .where('user_id', '=', userId);

type ApprovalQuestion = Pick<
  ApprovalRow,
  'tool' | 'action' | 'arguments' | 'digest' | 'reason' | 'untrusted' | 'expires_at'
>;

/** Every argument on a line of its own; no text in it can begin a line or turn its direction. */
const textOf = (asked: ApprovalQuestion): string => {
  const short = asked.digest.slice(0, SHORT_DIGEST);
  const args: Record<string, unknown> = JSON.parse(asked.arguments);
  return [
    `${asked.tool}.${asked.action}`,
    ...Object.entries(args).map(([name, value]) => `  ${visible(name)}: ${visible(value)}`),
    `Because: ${visible(asked.reason)}`,
    asked.untrusted === 1 ? 'UNTRUSTED: the agent has read what came from outside' : 'trusted',
    `Digest ${short}. Nothing has run; without an answer it is denied at ${asked.expires_at}.`,
    `Or reply: approve ${short}    deny ${short}`,
  ].join('\n');
};

/** As JSON, with what hides or turns text spelt out. */
const visible = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\p{Cf}\p{Zl}\p{Zp}\u0080-\u009f]/gu,
    (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`,
  );
