import { createInterface } from 'node:readline';
import { ApiError, type ApprovalReply, type Client } from '../../src/client/index.js';
import { isReadAloud } from '../../src/client/session.js';
import { now } from '../clock.js';
import type { Context } from '../context.js';
import { cutToWidth, oneLine } from '../text.js';
import { ago, localTime } from '../times.js';
import { callLines } from './call.js';
import { approvalCall, approvalTrustText, shortOf } from './columns.js';

/** Questions by number, and the keys that answer them. */
export interface ApprovalPrompts {
  tell(approval: ApprovalReply): void;
  close(): void;
}

/** A `y` that comes sooner was typed, or pasted, before the call could be read. */
const READING_MS = 700;
const HELP = 'a1 approve, d1 deny [reason], s1 show all. ^C ends.';

/**
 * A number belongs to one question for good: a new one is added below and never takes the place of
 * one that is being read. Enter alone does nothing.
 */
export const openApprovalPrompts = (context: Context, client: Client): ApprovalPrompts => {
  const { out, streams } = context;
  const numbered: ApprovalReply[] = [];
  /** The call that `y` would approve: the one that was just shown whole, and when. */
  let asked: { approval: ApprovalReply; at: number } | null = null;
  const reader = createInterface({
    input: streams.stdin,
    output: streams.stderr,
    terminal: !isReadAloud(),
  });

  const tell = (approval: ApprovalReply): void => {
    const at = numbered.findIndex(({ id }) => id === approval.id);
    if (at >= 0) numbered[at] = approval;
    const number = at >= 0 ? at + 1 : approval.status === 'pending' ? numbered.push(approval) : 0;
    if (number === 0) return;
    if (approval.status === 'pending') {
      for (const line of summaryOf(number, approval, out.width)) out.line(line);
      out.note(HELP);
      return;
    }
    if (asked?.approval.id === approval.id) asked = null;
    const when = localTime(approval.decidedAt ?? approval.expiresAt);
    out.line(`[${number}] ${approval.status} ${when}`);
  };

  const answer = async (
    approval: ApprovalReply,
    approved: boolean,
    reason?: string,
  ): Promise<void> => {
    const { id: approvalId, digest } = approval;
    const body = { approvalId, digest, approved, ...(reason ? { reason } : {}) };
    try {
      tell(await client.approvals.approve({ body }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      out.warn(oneLine(error.message));
    }
  };

  const confirm = (approval: ApprovalReply): void => {
    for (const line of callLines(approval)) out.note(line);
    asked = { approval, at: now() };
    out.note(
      `Approve ${oneLine(approvalCall(approval))} ${shortOf(approval)} exactly as shown? [y/N]`,
    );
  };

  const decide = async (
    of: { approval: ApprovalReply; at: number },
    isYes: boolean,
  ): Promise<void> => {
    if (isYes && now() - of.at < READING_MS) return out.note('Read it first. [y/N]');
    asked = null;
    if (isYes) await answer(of.approval, true);
    else out.note('Undecided.');
  };

  const obey = async (line: string): Promise<void> => {
    if (asked) return decide(asked, /^y(es)?$/i.test(line));
    const [, verb, number, rest = ''] = /^([ads])\s*(\d+)\s*(.*)$/.exec(line) ?? [];
    const approval = numbered[Number(number) - 1];
    if (!verb || !approval) return line === '' ? undefined : out.note(HELP);
    if (verb === 's') for (const each of callLines(approval)) out.note(each);
    else if (approval.status !== 'pending') out.note(`[${number}] is ${approval.status} already.`);
    else if (verb === 'a') confirm(approval);
    else await answer(approval, false, rest);
  };

  reader.on('line', (line) => void obey(line.trim()).catch((error) => out.warn(String(error))));
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return { tell, close: () => reader.close() };
};

const summaryOf = (number: number, approval: ApprovalReply, width: number): string[] => {
  const agent = approval.agentId === null ? 'a direct call' : `agent ${approval.agentId.slice(-6)}`;
  const head = [
    oneLine(approvalCall(approval)),
    agent,
    approvalTrustText(approval),
    ago(approval.expiresAt),
  ];
  const args = oneLine(JSON.stringify(approval.arguments));
  return [
    cutToWidth(`[${number}] ${head.join('  ')}  ${shortOf(approval)}`, width),
    cutToWidth(`      ${args}`, width),
    cutToWidth(`      because ${oneLine(approval.reason)}`, width),
  ];
};
