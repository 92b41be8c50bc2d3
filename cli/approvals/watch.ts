import type { ApprovalReply, Client } from '../../src/client/index.js';
import { live } from '../../src/client/socket.js';
import { now } from '../clock.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { interrupted } from '../exit.js';
import { localTime } from '../times.js';
import { approvalColumns } from './columns.js';
import { openApprovalPrompts } from './prompts.js';

export const watchApprovals = command({
  name: 'watch',
  args: '',
  summary: 'What waits for you as it comes, to be answered by number',
  examples: ['', '--json | jq .arguments', '--output id'],
  notes: [
    'On a terminal: a1 approves, d1 denies with what follows as reason, s1 shows the whole call.',
    'In a pipe: one line for each question and each answer, until ^C.',
  ],
  seeAlso: 'adjutant help approvals',
  run: async (context) => {
    const client = await context.listener();
    const isAsked = context.ask.isPossible && context.out.format === 'table';
    const desk = isAsked ? openApprovalPrompts(context, client) : null;
    try {
      await follow(context, client, (approval) =>
        desk ? desk.tell(approval) : context.out.item(approval, approvalColumns),
      );
    } catch (error) {
      if (!context.signal.aborted) throw error;
      throw interrupted('What waits goes on waiting: adjutant approvals list --status pending');
    } finally {
      desk?.close();
    }
  },
});

/** Yields what waits already, then every question and answer, through lost connections. */
const follow = async (
  { url, token, signal, out }: Context,
  client: Client,
  tell: (approval: ApprovalReply) => void,
): Promise<void> => {
  const known = new Map<string, string>();
  const once = (approval: ApprovalReply): void => {
    if (known.get(approval.id) === approval.status) return;
    known.set(approval.id, approval.status);
    tell(approval);
  };
  for await (const note of live({ url, token, signal, now, channels: ['approval'] })) {
    if (note.type === 'lost') {
      const at = localTime(new Date(now()).toISOString());
      out.note(`-- lost the daemon ${at} (${note.reason}), trying --`);
    } else if (note.type === 'connected') {
      for (const approval of await missedBy(client, known)) once(approval);
      if (known.size === 0) out.note('Nothing waits for you. ^C ends.');
    } else if (isApproval(note.data)) once(note.data);
  }
};

/** Yields what was decided since of those that waited, then what waits now; the oldest first. */
const missedBy = async (client: Client, known: Map<string, string>): Promise<ApprovalReply[]> => {
  const open = [...known].filter(([, status]) => status === 'pending');
  const before = await Promise.all(open.map(([id]) => client.approvals.get({ id })));
  const { approvals } = await client.approvals.list({ query: { status: 'pending', limit: 200 } });
  return [...before, ...approvals.reverse()];
};

const isApproval = (data: unknown): data is ApprovalReply =>
  typeof data === 'object' && data !== null && 'digest' in data && 'status' in data;
