import { type Client, contracts } from '../../src/client/index.js';
import {
  approvalCall,
  approvalColumns,
  callLines,
  describeScope,
  digestPrefix,
  findApproval,
  type ScopeChoice,
  watchApprovals,
} from '../approvals/approval.js';
import { type CommandGroup, type Context, command, type Flag } from '../command.js';
import { nullIfRefused, usageFault } from '../exit.js';
import { listCommand } from '../request.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.approvals();

const list = listCommand({
  endpoint: endpoints.list,
  summary: 'List pending approvals',
  examples: ['', '--decided', '--status denied', '--all --json', '--output id'],
  narrow: {
    flag: 'decided',
    about: 'Also list approved, denied and expired ones',
    query: { status: 'pending' },
  },
  rows: 'approvals',
  columns: approvalColumns,
  next: (rows, _, client) => {
    const waiting = rows.find(({ status }) => status === 'pending');
    if (waiting) return `Show the full call: adjutant approvals get ${digestPrefix(waiting)}`;
    return noCallLines(client, rows.length === 0);
  },
  seeAlso: 'adjutant help approvals',
});

/** Also reports waiting pipeline stages, if the token may read them. */
const noCallLines = async (client: Client, isEmpty: boolean): Promise<string> => {
  const overview = await nullIfRefused([403], client.overview.get());
  const waiting = overview?.pipelines.waiting ?? 0;
  const decided = isEmpty ? ' Decided ones: adjutant approvals list --decided' : '';
  const none = `No pending approvals.${decided}`;
  if (waiting === 0) return none;
  const wait =
    waiting === 1 ? '1 pipeline stage is waiting' : `${waiting} pipeline stages are waiting`;
  return `${none}\n${wait}: adjutant pipelines list --status waiting`;
};

const get = command({
  name: 'get',
  args: '<approval>',
  calls: [endpoints.get],
  examples: ['4f2a91c0', '4f2a91c0 --json', '4f2a91c0 --fields tool,arguments'],
  run: async (context, { args }) => {
    const approval = await findApproval(await context.client(), args.approval);
    if (context.out.format !== 'table') return context.out.item(approval, approvalColumns);
    for (const line of callLines(approval)) context.out.line(line);
  },
});

const SCOPES: readonly ScopeChoice[] = ['once', 'conversation', 'host'];

const scopeFlag: Flag<ScopeChoice> = {
  value: '<scope>',
  about:
    'Scope of the approval. once: only this call. conversation: also later calls of the same tool to the same host in this conversation, for 30 days. host: also later requests of the same tool with the same method to the same host and port, for the same hook or conversation, for 30 days. Defaults to once',
  values: SCOPES,
  read: (input) => {
    const scope = SCOPES.find((each) => each === input);
    if (!scope) throw usageFault(`--scope must be one of ${SCOPES.join(', ')}.`);
    return scope;
  },
};

const approve = command({
  name: 'approve',
  args: '<approval>',
  calls: [endpoints.approve],
  summary: 'Approve a tool call',
  examples: ['4f2a91c0', '4f2a91c0 --scope host', '4f2a91c0 --yes --json'],
  flags: { scope: scopeFlag },
  notes: [
    'The command shows the full call and asks for confirmation. Only the shown call is approved.',
    'conversation: also later calls of the tool to the same host in this conversation.',
    'host: also later requests of the tool with this method to this host, for the hook or ' +
      'conversation, 30 days.',
    'An untrusted agent always needs an approval to send a query string.',
  ],
  seeAlso: 'adjutant approvals grants list, adjutant approvals watch',
  run: async (context, { args, flags: { scope = 'once' } }) => {
    const client = await context.client();
    const approval = await findApproval(client, args.approval);
    for (const line of callLines(approval)) context.out.note(line);
    await context.ask.confirm(
      `Approve ${approvalCall(approval)} ${describeScope(approval, scope)}?`,
    );
    const { id: approvalId, digest } = approval;
    const chosen = scope === 'once' ? {} : { scope };
    await decideOn(context, client, { approvalId, digest, approved: true, ...chosen });
  },
});

const deny = command({
  name: 'deny',
  args: '<approval> [reason]',
  calls: [endpoints.approve],
  summary: 'Deny a tool call, with a reason for the agent',
  examples: ['4f2a91c0', '4f2a91c0 "Not on a Sunday"', '4f2a91c0 "Not on a Sunday" --json'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { id: approvalId, digest } = await findApproval(client, args.approval);
    await decideOn(context, client, { approvalId, digest, approved: false, reason: args.reason });
  },
});

const decideOn = async (
  { out }: Context,
  client: Client,
  body: NonNullable<Parameters<Client['approvals']['approve']>[0]>['body'],
): Promise<void> => {
  const decided = await client.approvals.approve({ body });
  const call = `${oneLine(approvalCall(decided))} ${digestPrefix(decided)}`;
  out.done(`${decided.status}: ${call}.`, decided, approvalColumns);
};

export const approvalsGroup: CommandGroup = {
  commands: [list, get, approve, deny, watchApprovals],
  notes: [
    'Identify an approval by the beginning of its digest, its id, or the end of the id.',
    'More: adjutant approvals grants',
  ],
};
