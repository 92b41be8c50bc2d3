import {
  type AuditEntry,
  type AuditVerdict,
  type Client,
  contracts,
  type OutboundMessageView,
} from '../../src/client/index.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command, switchFlag } from '../command.js';
import { resolveHome } from '../daemon/environment.js';
import { Exit, usageFault } from '../exit.js';
import { requestFields } from '../fields.js';
import { bulkFlags, refuseBulkFlags, workOnFailed } from '../operations/bulk.js';
import { listCommand, requestCommand } from '../request.js';
import { resolveId } from '../resolve.js';
import { ago, oneLine } from '../text.js';
import { refusedAs } from './recover.js';

const { list: entryList, verify } = await contracts.audit();

/** Returns the current names of the users, or their ids; both names for an impersonation. */
const formatActor = (entry: AuditEntry): string => {
  const actor = entry.actorName ?? entry.actorId;
  if (entry.impersonatorId === null) return actor;
  return `${entry.impersonatorName ?? entry.impersonatorId} as ${actor}`;
};

/** Shortens an id to its noun and its last six characters. */
const short = (target: string | null): string =>
  (target ?? '').replace(/^([a-z]+)_[0-9a-z]{20}([0-9a-z]{6})$/, '$1 $2');

const entryColumns = buildColumns<AuditEntry>(
  ['at:time'],
  { name: 'actor', value: formatActor },
  ['action'],
  formattedColumn('target', ({ target }) => target, short),
  ['outcome:state', 'ip', 'number:data', 'id:data', 'request=requestId:data', 'data:data'],
);

const verdictColumns = buildColumns<AuditVerdict>(
  ['ok', 'entries', 'head=head.mac', 'number=problem.number', 'kind=problem.kind'],
  ['message=problem.message'],
);

const listEntries = listCommand({
  endpoint: entryList,
  examples: ['', '--action users.invite', '--since 2026-01-31'],
  rows: 'entries',
  columns: entryColumns,
  next: (rows) => (rows.length === 0 ? 'No matching entries.' : undefined),
  seeAlso: 'adjutant audit verify',
});

const verifyChain = command({
  name: 'verify',
  summary: 'Verify every entry of the audit log',
  calls: [verify],
  examples: ['', '--json', '--quiet || echo somebody changed it', '--offline --home /srv/adjutant'],
  flags: {
    offline: switchFlag(
      'Verify the audit log in the home folder, while the daemon is stopped. Nothing is written',
    ),
  },
  notes: [
    'Exit code 1: an entry was changed or removed, or the newest entries are missing.',
    '--offline needs neither a login nor a daemon. The key is read from the home or ' +
      'from ADJUTANT_MASTER_KEY.',
  ],
  run: async (context, { flags }) => {
    const verdict = flags.offline
      ? await verifyOffline(context)
      : await (await context.client()).audit.verify();
    showVerdict(context, verdict);
  },
});

const verifyOffline = async (context: Context): Promise<AuditVerdict> => {
  const { verifyHome } = await import('../../src/auditverify.js');
  return verifyHome({ home: resolveHome(context.flags.home) }).catch((error: unknown) => {
    throw refusedAs('Not verified', error);
  });
};

const showVerdict = (context: Context, verdict: AuditVerdict): void => {
  const { out } = context;
  const { entries, head, problem } = verdict;
  if (problem) context.exitCode = Exit.failed;
  if (out.format !== 'table') {
    out.item(verdict, verdictColumns);
    return;
  }
  if (problem) {
    out.line(`${problem.kind} at entry ${problem.number}: ${problem.message}`);
    return;
  }
  out.line(`${entries} ${entries === 1 ? 'entry' : 'entries'}, unbroken`);
  if (head) out.note(`Head: ${head.number} ${head.mac}`);
};

export const auditGroup: CommandGroup = {
  summary: 'Read and verify the audit log',
  commands: [listEntries, verifyChain],
};

const { list: messageList, resend } = await contracts.outbox();

const messageColumns = buildColumns<OutboundMessageView>(
  ['id:data', 'at=createdAt:time', 'status:state', 'user=username', 'target', 'kind'],
  ['tries=attempts'],
  formattedColumn('next', ({ nextAttemptAt }) => nextAttemptAt, ago),
  formattedColumn('error', ({ error }) => error, oneLine),
  ['channel=channelId:data', 'webhook=webhookId:data', 'receipt:data', 'short=id:tail'],
);

const listMessages = listCommand({
  endpoint: messageList,
  examples: ['--status failed', '--status unknown --all', '--json'],
  rows: 'sendings',
  columns: messageColumns,
  next: (rows) => {
    if (rows.length === 0) return 'No matching messages.';
    const dead = rows.find(({ status }) => status === 'failed' || status === 'unknown');
    return dead && `Resend it: adjutant outbox resend ${dead.id.slice(-6)}`;
  },
});

const { outbox: resendAll } = await contracts.resends();

const resendMessage = command({
  name: 'resend',
  args: '[sending]',
  summary: 'Resend one message, or all failed channel messages',
  calls: [resend, resendAll],
  examples: ['4ew6rt', '4ew6rt --json', '--failed', '--failed --since 2h --yes'],
  fields: () => requestFields(resendAll.body, ['since', 'until', 'dryRun']),
  flags: bulkFlags,
  notes: [
    'Admins only. A message with an unknown outcome may have arrived, and may arrive twice.',
    '--failed lists the messages and asks. Unknown outcomes are included only with --status.',
  ],
  seeAlso: 'adjutant operations',
  run: async (context, { args: { sending }, flags, fields }) => {
    const client = await context.client();
    if (flags.failed) {
      return workOnFailed(
        context,
        { flags, fields },
        {
          schema: resendAll.body,
          more: {},
          send: (body, how) => client.resends.outbox({ body: { ...body, ...how } }),
          noun: 'message',
          verb: 'Resend',
        },
      );
    }
    refuseBulkFlags(flags);
    if (sending === undefined)
      throw usageFault('Pass a message, or --failed for all failed messages');
    const page = (cursor?: string) => deadPage(client, cursor);
    const id = await resolveId(sending, { noun: 'sending', listed: 'outbox list', page });
    const again = await client.outbox.resend({ id });
    const sentence = 'Queued again. Check the outcome: adjutant outbox list';
    context.out.done(sentence, again, messageColumns);
  },
});

/**
 * Lists failed messages, then those with an unknown outcome. The cursor holds the status and the
 * cursor of its list.
 */
const deadPage = async (client: Client, cursor = 'failed') => {
  const [word, at] = cursor.split(' ');
  const status = word === 'failed' ? 'failed' : 'unknown';
  const page = await client.outbox.list({ query: { limit: 200, status, cursor: at } });
  const last = status === 'failed' ? 'unknown' : null;
  return {
    rows: page.sendings.map(({ id }) => ({ id, name: id })),
    nextCursor: page.nextCursor === null ? last : `${status} ${page.nextCursor}`,
  };
};

export const outboxGroup: CommandGroup = {
  summary: 'Manage outbound messages (admin)',
  commands: [listMessages, resendMessage],
};

const { rotate } = await contracts.keys();

const rotateKeys = requestCommand({
  name: 'rotate',
  endpoint: rotate,
  examples: ['', '--json', '--quiet'],
  notes: [
    'Admins only. Nobody is logged out: tokens of the old key stay valid until they ' + 'expire.',
  ],
  show: ({ out }, made) =>
    out.done(
      `${made.keyId} signs new tokens. Older keys that verify: ${made.retired}.`,
      made,
      buildColumns(['key=keyId', 'created=createdAt', 'retired']),
    ),
});

export const keysGroup: CommandGroup = {
  summary: 'Manage token signing keys (admin)',
  commands: [rotateKeys],
};
