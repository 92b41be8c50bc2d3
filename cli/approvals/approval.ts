import { createInterface } from 'node:readline';
import { ApiError, type Approval, type Client } from '../../src/client/index.js';
import { usesScreenReader } from '../../src/client/session.js';
import { describeDomains } from '../../src/kernel/asciidomain.js';
import { buildColumns } from '../columns.js';
import { type Context, command } from '../command.js';
import { interrupted } from '../exit.js';
import { keepRawMode } from '../foreground.js';
import { connectionRemark, followRows } from '../live.js';
import { resolveId } from '../resolve.js';
import { age, ago, cutToWidth, localTime, now, oneLine, plainText } from '../text.js';

export const approvalColumns = buildColumns<Approval>(
  ['id:data'],
  { name: 'call', value: approvalCall },
  { name: 'short', value: digestPrefix, only: 'table' },
  { name: 'trust', value: approvalTrustText, isState: true },
  ['status:state'],
  {
    name: 'expires',
    value: (approval) => approval.expiresAt,
    show: ({ status, expiresAt, decidedAt }) =>
      status === 'pending' ? ago(expiresAt) : `decided ${age(decidedAt)}`,
  },
  ['reason', 'agent=agentId', 'arguments', 'digest:data'],
);

export function approvalCall({ tool, action }: Approval): string {
  return `${tool}.${action}`;
}

export function digestPrefix({ digest }: Approval): string {
  return digest.slice(0, 8);
}

function approvalTrustText({ untrusted }: Approval): string {
  return untrusted ? 'UNTRUSTED' : 'trusted';
}

export type ScopeChoice = Approval['scopes'][number];

const COVERED: Record<ScopeChoice, string> = {
  once: 'exactly as shown',
  conversation: 'as shown, and later calls of this tool to this host in this conversation',
  host: 'as shown, and later calls of this tool to this host, port and method for 30 days',
};

export const describeScope = (approval: Approval, scope: ScopeChoice): string =>
  `${digestPrefix(approval)} ${COVERED[scope]}`;

/**
 * Finds an approval by its id, the end of its id, or the beginning of its digest. For several
 * requests of the same call it returns the newest, because the others are decided.
 */
export const findApproval = async (client: Client, typed: string): Promise<Approval> => {
  const isDigest = /^[0-9a-f]{8,64}$/i.test(typed);
  const newest = new Map<string, string>();
  const id = await resolveId(typed, {
    noun: 'approval',
    listed: 'approvals list --decided',
    page: async (cursor) => {
      const { approvals, nextCursor } = await client.approvals.list({
        query: { limit: 200, cursor },
      });
      for (const { id, digest } of approvals) {
        if (!newest.has(digest)) newest.set(digest, id);
      }
      const rows = approvals.map(({ id, digest }) => ({
        id,
        name: isDigest && newest.get(digest) === id ? digest.slice(0, typed.length) : '',
      }));
      return { rows, nextCursor };
    },
  });
  return client.approvals.get({ id });
};

/**
 * The exact call in full: its details, each argument under its name, each list member on its own
 * line, and every invisible character made visible. A person must never approve what is not shown.
 */
export const callLines = (approval: Approval): string[] => {
  const facts = Object.entries(approval.arguments).flatMap(([name, value]) => {
    const [first = '', ...rest] = valueLines(value);
    return [`  ${oneLine(name)}  ${first}`, ...rest.map((line) => `    ${line}`)];
  });
  return [
    `${oneLine(approvalCall(approval))}    digest ${digestPrefix(approval)}    ${approvalTrustText(approval)}`,
    ...approval.details.map(({ name, value }) => `${oneLine(name)}: ${oneLine(value)}`),
    ...(facts.length > 0 ? facts : ['  no arguments']),
    ...describeDomains(approval.arguments),
    `Reason     ${oneLine(approval.reason)}`,
    ...(approval.agentId === null ? [] : [`Agent      ${approval.agentId}`]),
    statusLine(approval),
    ...scopeLines(approval),
  ];
};

const scopeLines = ({ status, scopes }: Approval): string[] => {
  const others = scopes.filter((scope) => scope !== 'once');
  if (status !== 'pending' || others.length === 0) return [];
  return [`To also approve later calls: --scope ${others.join(' or ')}`];
};

const valueLines = (value: unknown): string[] => {
  if (Array.isArray(value)) return ['', ...value.map((member) => oneLine(plainText(member)))];
  return plainText(value).split('\n').map(oneLine);
};

const statusLine = ({ status, expiresAt, decidedAt, decisionReason }: Approval): string => {
  if (status === 'pending') {
    return `Not run yet. Denied at ${localTime(expiresAt)} (${ago(expiresAt)}) unless you decide.`;
  }
  const reason = decisionReason === null ? '' : `: ${oneLine(decisionReason)}`;
  return `${status} ${decidedAt === null ? '' : localTime(decidedAt)}${reason}`;
};

export interface ApprovalPrompts {
  tell(approval: Approval): void;
  close(): void;
}

interface PendingCall {
  approval: Approval;
  scope: ScopeChoice;
  at: number;
}

/** Milliseconds. A faster `y` was typed or pasted before the call could be read. */
const READING_MS = 700;
const HELP = 'a1 approve, d1 deny [reason], s1 show all. ^C exits.';

/**
 * A number always refers to the same question. A new one is appended and never replaces one that
 * is being read. Enter alone does nothing.
 */
export const openApprovalPrompts = (context: Context, client: Client): ApprovalPrompts => {
  const { out, streams } = context;
  const numbered: Approval[] = [];
  /** The call that `y` approves: the last one shown in full. */
  let pending: PendingCall | null = null;
  const reader = createInterface({
    input: streams.stdin,
    output: streams.stderr,
    terminal: !usesScreenReader(),
  });

  const tell = (approval: Approval): void => {
    const at = numbered.findIndex(({ id }) => id === approval.id);
    if (at >= 0) numbered[at] = approval;
    const number = at >= 0 ? at + 1 : approval.status === 'pending' ? numbered.push(approval) : 0;
    if (number === 0) return;
    if (approval.status === 'pending') {
      for (const line of renderApprovalSummary(number, approval, out.width)) out.line(line);
      out.note(HELP);
      return;
    }
    if (pending?.approval.id === approval.id) pending = null;
    const when = localTime(approval.decidedAt ?? approval.expiresAt);
    out.line(`[${number}] ${approval.status} ${when}`);
  };

  const decideOn = async (
    approval: Approval,
    approved: boolean,
    { reason, scope }: { reason?: string; scope?: ScopeChoice } = {},
  ): Promise<void> => {
    const { id: approvalId, digest } = approval;
    const options = { ...(reason && { reason }), ...(scope && { scope }) };
    const body = { approvalId, digest, approved, ...options };
    try {
      tell(await client.approvals.approve({ body }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      out.warn(oneLine(error.message));
    }
  };

  const confirm = (approval: Approval, input: string): void => {
    const scope = approval.scopes.find((each) => each === (input || 'once'));
    if (!scope) {
      out.note(`Scope must be one of ${approval.scopes.join(', ')}. Example: a1 host`);
      return;
    }
    for (const line of callLines(approval)) out.note(line);
    pending = { approval, scope, at: now() };
    out.note(`Approve ${oneLine(approvalCall(approval))} ${describeScope(approval, scope)}? [y/N]`);
  };

  const decide = async ({ approval, scope, at }: PendingCall, isYes: boolean): Promise<void> => {
    if (isYes && now() - at < READING_MS) return out.note('Read the call first. [y/N]');
    pending = null;
    if (isYes) await decideOn(approval, true, scope === 'once' ? {} : { scope });
    else out.note('No decision was made.');
  };

  const handleLine = async (line: string): Promise<void> => {
    if (pending) return decide(pending, /^y(es)?$/i.test(line));
    const [, verb, number, rest = ''] = /^([ads])\s*(\d+)\s*(.*)$/.exec(line) ?? [];
    const approval = numbered[Number(number) - 1];
    if (!verb || !approval) return line === '' ? undefined : out.note(HELP);
    if (verb === 's') for (const each of callLines(approval)) out.note(each);
    else if (approval.status !== 'pending') out.note(`[${number}] is already ${approval.status}.`);
    else if (verb === 'a') confirm(approval, rest);
    else await decideOn(approval, false, { reason: rest });
  };

  reader.on(
    'line',
    (line) => void handleLine(line.trim()).catch((error) => out.warn(String(error))),
  );
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const giveUpRawMode = keepRawMode(streams.stdin);
  reader.once('close', giveUpRawMode);
  return { tell, close: () => reader.close() };
};

const renderApprovalSummary = (number: number, approval: Approval, width: number): string[] => {
  const agent = approval.agentId === null ? 'direct call' : `agent ${approval.agentId.slice(-6)}`;
  const head = [
    oneLine(approvalCall(approval)),
    agent,
    approvalTrustText(approval),
    ago(approval.expiresAt),
  ];
  const details = approval.details.map(({ name, value }) => `${name}: ${value}`);
  const args = oneLine([...details, JSON.stringify(approval.arguments)].join('  '));
  return [
    cutToWidth(`[${number}] ${head.join('  ')}  ${digestPrefix(approval)}`, width),
    cutToWidth(`      ${args}`, width),
    cutToWidth(`      reason: ${oneLine(approval.reason)}`, width),
  ];
};

export const watchApprovals = command({
  name: 'watch',
  args: '',
  summary: 'Watch pending approvals and decide them by number',
  examples: ['', '--json | jq .arguments', '--output id'],
  notes: [
    'On a terminal: a1 approves, d1 denies (optionally followed by a reason), s1 shows the full call.',
    'a1 conversation and a1 host also approve later calls.',
    'In a pipe: one line per request and per decision, until ^C.',
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
      throw interrupted('Pending approvals stay open: adjutant approvals list');
    } finally {
      desk?.close();
    }
  },
});

/** Prints pending requests, then every request and decision, also across lost connections. */
const follow = async (
  context: Context,
  client: Client,
  tell: (approval: Approval) => void,
): Promise<void> => {
  const known = new Map<string, string>();
  const isNew = ({ id, status }: Approval): boolean => {
    if (known.get(id) === status) return false;
    known.set(id, status);
    return true;
  };
  const missed = () => missedBy(client, known);
  const followed = { channel: 'approval', isRow: isApproval, isNew, missed };
  for await (const note of followRows(context, followed)) {
    if (note.type === 'row') tell(note.row);
    else if (note.type === 'lost') context.out.note(connectionRemark(note));
    else if (known.size === 0) context.out.note('No pending approvals. ^C exits.');
  }
};

/**
 * Returns known requests that were decided in the meantime, then the pending ones, oldest first.
 */
const missedBy = async (client: Client, known: Map<string, string>): Promise<Approval[]> => {
  const open = [...known].filter(([, status]) => status === 'pending');
  const before = await Promise.all(open.map(([id]) => client.approvals.get({ id })));
  const { approvals } = await client.approvals.list({ query: { status: 'pending', limit: 200 } });
  return [...before, ...approvals.reverse()];
};

const isApproval = (data: unknown): data is Approval =>
  typeof data === 'object' && data !== null && 'digest' in data && 'status' in data;
