import { type Client, contracts } from '../../src/client/index.js';
import {
  approvalCall,
  approvalColumns,
  approvalOf,
  callLines,
  shortOf,
  watchApprovals,
} from '../approvals/approval.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { listCommand } from '../request.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.approvals();

const list = listCommand({
  endpoint: endpoints.list,
  examples: ['--status pending', '--all --json', '--status pending --output id'],
  rows: 'approvals',
  columns: approvalColumns,
  next: (rows) => {
    const waiting = rows.find(({ status }) => status === 'pending');
    if (!waiting) return 'Nothing waits for you.';
    return `Read the whole call: adjutant approvals get ${shortOf(waiting)}`;
  },
  seeAlso: 'adjutant help approvals',
});

const get = command({
  name: 'get',
  args: '<approval>',
  calls: [endpoints.get],
  examples: ['4f2a91c0', '4f2a91c0 --json', '4f2a91c0 --fields tool,arguments'],
  run: async (context, { args }) => {
    const approval = await approvalOf(await context.client(), args.approval);
    if (context.out.format !== 'table') return context.out.item(approval, approvalColumns);
    for (const line of callLines(approval)) context.out.line(line);
  },
});

const approve = command({
  name: 'approve',
  args: '<approval>',
  calls: [endpoints.approve],
  summary: 'Let a call run, once and exactly as shown',
  examples: ['4f2a91c0', '4f2a91c0 --yes', '4f2a91c0 --yes --json'],
  notes: ['It shows the whole call and asks; what was shown is what is approved.'],
  seeAlso: 'adjutant approvals watch',
  run: async (context, { args }) => {
    const client = await context.client();
    const approval = await approvalOf(client, args.approval);
    for (const line of callLines(approval)) context.out.note(line);
    await context.ask.confirm(
      `Approve ${approvalCall(approval)} ${shortOf(approval)} exactly as shown?`,
    );
    const { id: approvalId, digest } = approval;
    await decideOn(context, client, { approvalId, digest, approved: true });
  },
});

const deny = command({
  name: 'deny',
  args: '<approval> [reason]',
  calls: [endpoints.approve],
  summary: 'Refuse a call, with a reason for the agent',
  examples: ['4f2a91c0', '4f2a91c0 "Not on a Sunday"', '4f2a91c0 "Not on a Sunday" --json'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { id: approvalId, digest } = await approvalOf(client, args.approval);
    await decideOn(context, client, { approvalId, digest, approved: false, reason: args.reason });
  },
});

const decideOn = async (
  { out }: Context,
  client: Client,
  body: { approvalId: string; digest: string; approved: boolean; reason?: string },
): Promise<void> => {
  const decided = await client.approvals.approve({ body });
  const call = `${oneLine(approvalCall(decided))} ${shortOf(decided)}`;
  out.done(`${decided.status}: ${call}.`, decided, approvalColumns);
};

export const approvalsGroup: CommandGroup = {
  commands: [list, get, approve, deny, watchApprovals],
  notes: ['An approval is named by the beginning of its digest, its id, or the end of that.'],
};
