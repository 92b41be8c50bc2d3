import { type Client, contracts } from '../../src/client/index.js';
import {
  approvalCall,
  approvalColumns,
  approvalOf,
  asShown,
  callLines,
  type ScopeChoice,
  shortOf,
  watchApprovals,
} from '../approvals/approval.js';
import { type CommandGroup, type Context, command, type Flag } from '../command.js';
import { unlessRefused, usageFault } from '../exit.js';
import { listCommand } from '../request.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.approvals();

const list = listCommand({
  endpoint: endpoints.list,
  examples: ['--status pending', '--all --json', '--status pending --output id'],
  rows: 'approvals',
  columns: approvalColumns,
  next: (rows, _, client) => {
    const waiting = rows.find(({ status }) => status === 'pending');
    if (waiting) return `Read the whole call: adjutant approvals get ${shortOf(waiting)}`;
    return noCallLines(client);
  },
  seeAlso: 'adjutant help approvals',
});

/** Says that no call waits, and how many stages of pipelines do, if the token may know. */
const noCallLines = async (client: Client): Promise<string> => {
  const overview = await unlessRefused([403], client.overview.get());
  const waiting = overview?.pipelines.waiting ?? 0;
  const none = 'No call waits for your approval.';
  if (waiting === 0) return none;
  const wait =
    waiting === 1 ? '1 stage of a pipeline waits' : `${waiting} stages of pipelines wait`;
  return `${none}\n${wait}: adjutant pipelines list --status waiting`;
};

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

const SCOPES: readonly ScopeChoice[] = ['once', 'conversation', 'host'];

const scopeFlag: Flag<ScopeChoice> = {
  value: '<scope>',
  about: 'How long it stands: once, conversation or host',
  values: SCOPES,
  read: (given) => {
    const scope = SCOPES.find((each) => each === given);
    if (!scope) throw usageFault(`--scope is one of ${SCOPES.join(', ')}.`);
    return scope;
  },
};

const approve = command({
  name: 'approve',
  args: '<approval>',
  calls: [endpoints.approve],
  summary: 'Let a call run exactly as shown',
  examples: ['4f2a91c0', '4f2a91c0 --scope host', '4f2a91c0 --yes --json'],
  flags: { scope: scopeFlag },
  notes: [
    'It shows the whole call and asks; what was shown is what is approved.',
    'conversation: later calls of the tool, to the same host, in this conversation.',
    'host: later requests with this method to this host, for the hook or conversation, 30 days.',
    'An untrusted agent sends nothing with a query string unasked, whatever stands.',
  ],
  seeAlso: 'adjutant approvals grants list, adjutant approvals watch',
  run: async (context, { args, flags: { scope = 'once' } }) => {
    const client = await context.client();
    const approval = await approvalOf(client, args.approval);
    for (const line of callLines(approval)) context.out.note(line);
    await context.ask.confirm(`Approve ${approvalCall(approval)} ${asShown(approval, scope)}?`);
    const { id: approvalId, digest } = approval;
    const chosen = scope === 'once' ? {} : { scope };
    await decideOn(context, client, { approvalId, digest, approved: true, ...chosen });
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
  body: NonNullable<Parameters<Client['approvals']['approve']>[0]>['body'],
): Promise<void> => {
  const decided = await client.approvals.approve({ body });
  const call = `${oneLine(approvalCall(decided))} ${shortOf(decided)}`;
  out.done(`${decided.status}: ${call}.`, decided, approvalColumns);
};

export const approvalsGroup: CommandGroup = {
  commands: [list, get, approve, deny, watchApprovals],
  notes: [
    'An approval is named by the beginning of its digest, its id, or the end of that.',
    'More: adjutant approvals grants',
  ],
};
