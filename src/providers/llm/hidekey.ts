import { listAt } from '../../kernel/jsonvalue.js';
import { type RedactedStream, redactedStream } from '../../kernel/redact.js';
import { redactInWorker, redactTextInWorker } from '../../kernel/redactinworker.js';
import { MIN_PIECE_LENGTH } from '../../kernel/secretforms.js';
import type { ReplyReasoning, StepReply, ToolCall } from './model.js';

const SHOWN = '[hidden]';

/** An endpoint may repeat the key in any field. */
export const redactKey = async (reply: StepReply, key: string | undefined): Promise<StepReply> => {
  if (key === undefined || key.length < MIN_PIECE_LENGTH) return reply;
  const toolCalls = reply.toolCalls.map((call) => callWithout(call, key));
  const text = await redactTextInWorker(reply.text, [key], SHOWN);
  const { reasoning } = reply;
  return {
    ...reply,
    text,
    toolCalls: await Promise.all(toolCalls),
    ...(reasoning && { reasoning: await reasoningWithout(reasoning, key) }),
  };
};

const reasoningWithout = async (
  reasoning: ReplyReasoning,
  key: string,
): Promise<ReplyReasoning> => ({
  ...reasoning,
  text: await redactTextInWorker(reasoning.text, [key], SHOWN),
  ...(reasoning.details && {
    details: listAt({ details: await redactInWorker(reasoning.details, [key], SHOWN) }, 'details'),
  }),
});

const callWithout = async (call: ToolCall, key: string): Promise<ToolCall> => {
  const redacted = await redactInWorker(call.arguments, [key], SHOWN);
  return {
    id: await redactTextInWorker(call.id, [key], SHOWN),
    name: await redactTextInWorker(call.name, [key], SHOWN),
    arguments: Object.fromEntries(Object.entries(redacted ?? {})),
    ...(call.fault !== undefined && { fault: await redactTextInWorker(call.fault, [key], SHOWN) }),
    ...(call.signature !== undefined && { signature: call.signature }),
  };
};

/** The key may be split over several pieces. */
export const redactKeyStream = (
  key: string | undefined,
  onText: (piece: string) => void,
): RedactedStream =>
  key === undefined || key.length < MIN_PIECE_LENGTH
    ? { take: onText, end: () => undefined }
    : redactedStream([key], onText, SHOWN);
