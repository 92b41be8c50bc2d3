import type { AgentEvent } from '../../src/agents/contract.js';
import type { MessageReply } from '../../src/conversations/contract.js';
import { isRecord, listAt, memberAt, numberAt, textAt } from '../../src/kernel/jsonvalue.js';

/** An item of the transcript. `key` is unique. */
export type TranscriptItem =
  | (ItemPlace & { is: 'status'; statuses: readonly string[]; detail: string })
  | (ItemPlace & { is: 'said'; content: string })
  | (ItemPlace & TranscriptText & { is: 'message' })
  | (ItemPlace & ToolUse & { is: 'call' });

interface ItemPlace {
  key: number | string;
  at: string;
}

interface TranscriptText {
  content: string;
  model: string | null;
  messageId: string | null;
  /** Note for readers beside the text of the model. */
  note: string | null;
}

/** A tool call from its request to its result. */
export interface ToolUse {
  callId: string | null;
  tool: string;
  arguments: unknown;
  approvalId: string | null;
  /** `pending`, then the decision. `null` if no approval was needed. */
  approval: string | null;
  result: { isOk: boolean; text: string; ms: number | null; isOutside: boolean } | null;
}

/**
 * Builds a transcript from events and messages to the agent. Events of one call form one item, at
 * the first event, and so do consecutive states.
 */
export const buildTranscript = (
  events: readonly AgentEvent[],
  said: readonly MessageReply[],
): TranscriptItem[] => {
  const items: TranscriptItem[] = [];
  const calls = new Map<string, TranscriptItem & { is: 'call' }>();
  for (const next of inOrder(events, said)) {
    if ('role' in next) items.push(userMessageItem(next));
    else if (next.type === 'agent.status') addStatus(items, statusItem(next));
    else if (next.type === 'agent.message') items.push(messageItem(next));
    else {
      const callId = textAt(next.data, 'callId');
      const known = callId === null ? undefined : calls.get(callId);
      const item = withPhase(known ?? newCall(next), next.data);
      if (callId !== null) calls.set(callId, item);
      if (known) items[items.indexOf(known)] = item;
      else items.push(item);
    }
  }
  return items;
};

/** A message precedes the states that it caused at the same time. */
const inOrder = (
  events: readonly AgentEvent[],
  said: readonly MessageReply[],
): (AgentEvent | MessageReply)[] => {
  const rest = [...said];
  const ordered = events.flatMap((event): (AgentEvent | MessageReply)[] => {
    const later = rest.findIndex(({ createdAt }) => createdAt > event.at);
    return [...rest.splice(0, later < 0 ? rest.length : later), event];
  });
  return [...ordered, ...rest];
};

const addStatus = (items: TranscriptItem[], item: TranscriptItem & { is: 'status' }): void => {
  const before = items.at(-1);
  if (before?.is !== 'status') items.push(item);
  else items.splice(-1, 1, { ...item, statuses: [...before.statuses, ...item.statuses] });
};

const userMessageItem = ({ id, createdAt, content }: MessageReply): TranscriptItem => ({
  is: 'said',
  key: id,
  at: createdAt,
  content,
});

const statusItem = ({ id, at, data }: AgentEvent): TranscriptItem & { is: 'status' } => {
  const names = listAt(data, 'waitingFor').map((sub) => textAt(sub, 'name') ?? '');
  const detail =
    names.length > 0 ? `waiting for ${names.join(', ')}` : (textAt(data, 'error') ?? '');
  return { is: 'status', key: id, at, statuses: [textAt(data, 'status') ?? ''], detail };
};

const messageItem = ({ id, at, data }: AgentEvent): TranscriptItem => ({
  is: 'message',
  key: id,
  at,
  content: textAt(data, 'content') ?? '',
  model: textAt(data, 'model'),
  messageId: textAt(data, 'messageId'),
  note: textAt(data, 'note'),
});

const newCall = ({ id, at, data }: AgentEvent): TranscriptItem & { is: 'call' } => ({
  is: 'call',
  key: id,
  at,
  callId: textAt(data, 'callId'),
  tool: textAt(data, 'tool') ?? '',
  arguments: {},
  approvalId: null,
  approval: null,
  result: null,
});

const withPhase = <T extends ToolUse>(call: T, data: Record<string, unknown>): T => {
  const args = memberAt(data, 'arguments');
  const next = { ...call, ...(isRecord(args) && { arguments: args }) };
  if (data.phase === 'approval') {
    next.approvalId = textAt(data, 'approvalId');
    next.approval = textAt(data, 'status');
  }
  if (data.phase !== 'result') return next;
  next.result = {
    isOk: data.ok === true,
    text: textAt(data, 'result') ?? '',
    ms: numberAt(data, 'ms'),
    isOutside: data.fromOutside === true,
  };
  return next;
};
