import { SHORT_DIGEST_LENGTH } from '../approvals/module.js';
import { toTheMinute } from '../kernel/clock.js';
import { isNeverDelayed } from '../outbound/module.js';
import type { StageQuestions } from '../pipelines/module.js';
import { SCOPE_TEXTS } from '../providers/chat/buttonscopes.js';
import type { ChannelMessage } from '../providers/chat/platform.js';
import type { Store } from '../store/store.js';
import type { OutboundMessageRow } from '../store/tables/outbox.js';
import type { ApprovalRow, ApprovalScope, GrantScope } from '../store/tables/permissions.js';
import { decidableBy } from '../store/visible.js';
import { escapeHidden, formatCall } from './calltext.js';
import { buildStageMessage, stageOfLink } from './stagetext.js';

export interface MessageContent {
  title?: string | null;
  body: string;
  /** Body with untrusted text escaped. */
  markdown?: string;
  /** Page path, or API path if the page does not show the subject. */
  link?: string | null;
}

/** Written by agents and hooks. Messages of the daemon are plain text. */
const MARKDOWN_KINDS = ['agent_completed', 'agent_notice', 'hook_notice'];
/** Old notifications contain API paths. */
const APPROVAL = /^(?:\/api\/chat)?\/approvals\/(\w+)$/;
const APPROVALS = /^(?:\/api\/chat)?\/approvals\?(?:status=pending&)?agentId=(\w+)$/;

export interface MessageTextDeps {
  store: Store;
  stages: Pick<StageQuestions, 'at'>;
  /** null unless others can reach the page at this address. */
  pageAddress(): string | null;
}

/**
 * A pending call is shown completely, as it is now. Ends with the URL of the page. `isRead` is
 * false if the channel receives no replies.
 */
export const buildChannelMessage = async (
  deps: MessageTextDeps,
  message: OutboundMessageRow,
  isRead = true,
): Promise<ChannelMessage> => {
  const content = await buildMessageContent(deps, message, isRead);
  const address = addressOnPage(deps.pageAddress(), JSON.parse(message.content).link);
  return {
    ...content,
    ...(address !== null && { text: `${content.text}\n\n${address}`.trim() }),
    ...(isNeverDelayed(message.kind) && { isUrgent: true }),
  };
};

export const addressOnPage = (
  page: string | null,
  link: string | null | undefined,
): string | null => (page === null || !link || link.startsWith('/api/') ? null : `${page}${link}`);

const buildMessageContent = async (
  { store, stages }: MessageTextDeps,
  message: OutboundMessageRow,
  isRead: boolean,
): Promise<ChannelMessage> => {
  const { title = null, body, markdown, link }: MessageContent = JSON.parse(message.content);
  const place = stageOfLink(link ?? '');
  if (place) {
    const stage = await stages.at(message.user_id, place);
    if (!stage) return { title, text: 'It was already answered or has ended.' };
    return { title, ...buildStageMessage(stage, isRead) };
  }
  const agentId = APPROVALS.exec(link ?? '')?.[1];
  if (agentId !== undefined) {
    return messageOfAll(store, message.user_id, { agentId, title, isRead });
  }
  const approvalId = APPROVAL.exec(link ?? '')?.[1];
  const approval =
    approvalId &&
    (await decidableApprovals(store, message.user_id)
      .where('id', '=', approvalId)
      .executeTakeFirst());
  const isMarkdown = MARKDOWN_KINDS.includes(message.kind);
  if (!approval) {
    const text = isMarkdown ? (markdown ?? body) : body;
    return { title, text: withoutTitle(text, title), isMarkdown };
  }
  if (approval.status !== 'pending') return { title, text: `It was already ${approval.status}.` };
  const { id, digest } = approval;
  const grantScopes = isRead ? grantScopesIn(approval) : [];
  const question = { approvalId: id, digest, ...(grantScopes.length > 0 && { grantScopes }) };
  return { title, text: formatApprovalText(approval, isRead), question };
};

const withoutTitle = (body: string, title: string | null): string => {
  const [first = '', ...rest] = body.trim().split('\n');
  const text = first.replace(/^#{1,6} |[*_]+/g, '').trim();
  return title !== null && text === title.trim() ? rest.join('\n').trim() : body;
};

/** Decided by digest, since a button would not show its call. */
const messageOfAll = async (
  store: Store,
  userId: string,
  { agentId, title, isRead }: { agentId: string; title: string | null; isRead: boolean },
): Promise<ChannelMessage> => {
  const approval = await decidableApprovals(store, userId)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending')
    .orderBy('id')
    .execute();
  const texts =
    approval.length > 0
      ? approval.map((one) => formatApprovalText(one, isRead))
      : ['All requests were already answered.'];
  return { title, text: texts.join('\n\n') };
};

const decidableApprovals = ({ db }: Store, userId: string) =>
  db
    .selectFrom('approvals')
    .select([
      'id',
      'tool',
      'action',
      'arguments',
      'details',
      'digest',
      'reason',
      'untrusted',
      'status',
      'scopes',
    ])
    .select('expires_at')
    .select((of) =>
      of.selectFrom('orgs').select('slug').whereRef('orgs.id', '=', 'approvals.user_id').as('org'),
    )
    .where(decidableBy(userId));

type ApprovalQuestion = Pick<
  ApprovalRow,
  | 'tool'
  | 'action'
  | 'arguments'
  | 'details'
  | 'digest'
  | 'reason'
  | 'untrusted'
  | 'expires_at'
  | 'scopes'
> & { org: string | null };

/** One argument per line. No text can begin a line or change its direction. */
const formatApprovalText = (approval: ApprovalQuestion, isRead: boolean): string => {
  const short = approval.digest.slice(0, SHORT_DIGEST_LENGTH);
  const args: Record<string, unknown> = JSON.parse(approval.arguments);
  return [
    ...formatCall(`${approval.tool}.${approval.action}`, args, JSON.parse(approval.details)),
    ...(approval.org === null ? [] : [`For the organization ${approval.org}`]),
    `Reason: ${escapeHidden(approval.reason)}`,
    approval.untrusted === 1
      ? 'UNTRUSTED: the agent has read external content'
      : 'Trusted: the agent has read no external content',
    `Digest ${short}. The call has not run. Without a decision it is denied at ${toTheMinute(approval.expires_at)}.`,
    ...(isRead ? repliesTo(approval, short) : listDecisionCommands(short)),
  ].join('\n');
};

const repliesTo = (approval: ApprovalQuestion, short: string): string[] => [
  `Or reply: approve ${short}    deny ${short}`,
  ...grantScopesIn(approval).map((scope) => `For ${SCOPE_TEXTS[scope]}: approve ${short} ${scope}`),
];

const listDecisionCommands = (short: string): string[] => [
  `Decide: adjutant approvals approve ${short}    adjutant approvals deny ${short}`,
];

const grantScopesIn = ({ scopes }: Pick<ApprovalRow, 'scopes'>): GrantScope[] => {
  const all: ApprovalScope[] = JSON.parse(scopes);
  return all.filter((scope) => scope !== 'once');
};
