import { type Client, contracts, type HookReply } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { namePages } from '../pages.js';
import { listCommand } from '../request.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { oneLine } from '../text.js';
import { hookCrud } from './hook.js';

const endpoints = await contracts.hooks();

const columns = buildColumns<HookReply>(
  ['id:data', 'time=createdAt:time', 'status:state', 'to=object', 'short=id:tail', 'error'],
  ['url', 'next=nextAttemptAt:time', 'attempts:number', 'preset:data'],
  ['execution=executionId:data'],
);

const replyId = (client: Client, id: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'sending',
    called: 'reply',
    listed: `hooks replies ${id.slice(-6)}`,
    pages: NEWEST_PAGES,
    page: namePages(
      'replies',
      (query) => client.hooks.replies({ id, query }),
      (reply) => ({ id: reply.id, name: reply.id }),
    ),
  });

export const listReplies = listCommand({
  endpoint: endpoints.replies,
  name: 'replies',
  args: '<hook>',
  examples: ['github-issues', 'github-issues --status unknown', 'github-issues --limit 1 --json'],
  rows: 'replies',
  columns,
  within: async (client, { hook }) => ({ id: await hookCrud.id(client, hook) }),
  next: (rows, { hook }) => {
    if (rows.length === 0) return 'No replies. Let the hook reply: adjutant hooks update --help';
    const open = rows.find(({ status, object }) => isResendable(status) && object !== null);
    return open && `Resend it: adjutant hooks resend-reply ${hook} ${open.id.slice(-6)}`;
  },
  seeAlso: 'adjutant hooks resend-reply, adjutant hooks executions',
});

const isResendable = (status: HookReply['status']): boolean =>
  status === 'failed' || status === 'unknown';

export const resendReply = hookCrud.request({
  name: 'resend-reply',
  args: '<hook> <reply>',
  endpoint: endpoints['resend-reply'],
  examples: ['github-issues 4ew6rt', 'github-issues 4ew6rt --json'],
  notes: ['A reply with the status unknown may be posted twice. Check the object first.'],
  within: async (client, id, { reply }) => ({ replyId: await replyId(client, id, reply) }),
  show: ({ out }, reply, { args: { hook } }) => {
    out.done('Queued again.', reply, columns);
    out.note(`Check the outcome: adjutant hooks replies ${oneLine(hook)}`);
  },
});
