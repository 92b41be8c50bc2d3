import {
  hasInexactNumber,
  isAnyNumber,
  parseWithDigits,
  stringifyExact,
} from '../../kernel/exactjson.js';
import { isRecord, listAt, parsedJson, withoutMark } from '../../kernel/jsonvalue.js';
import { mapLines } from './lines.js';
import type { GlobalFetch } from './wire.js';

type Json = Record<string, unknown>;

const DONE = '[DONE]';

/**
 * The adapters check replies strictly. Many servers send arguments as an object, an empty finish
 * reason or none, numbers for IDs, or one JSON reply instead of a stream.
 */
export const normalizeChunks =
  (fetch: GlobalFetch): GlobalFetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, headers } = response;
    if (!body) return response;
    const isWhole = /^application\/json\b/.test(headers.get('content-type') ?? '');
    if (!isWhole) return new Response(body.pipeThrough(eventFilter()), { status, headers });
    const text = await response.text();
    const reply = parsed(text);
    if (!isRecord(reply) || !Array.isArray(reply.choices)) {
      return new Response(text, { status, headers });
    }
    const uniform = uniformReply(reply, 'message');
    if (typeof init?.body === 'string' && /"stream"\s*:\s*true/.test(init.body)) {
      return new Response(formatReplyEvents(uniform), {
        status,
        headers: { 'content-type': 'text/event-stream' },
      });
    }
    return new Response(stringifyExact(uniform), { status, headers });
  };

const eventFilter = (): TransformStream<Uint8Array, Uint8Array> => {
  let hasContent = false;
  let isFinished = false;
  const filtered = (line: string): string => {
    if (!line.startsWith('data:')) return line;
    const data = line.slice('data:'.length).trim();
    if (data === DONE) return hasContent && !isFinished ? `${formatEvent(FINISH)}${line}` : line;
    const value = parsed(data);
    if (!isRecord(value)) return line;
    const chunk = uniformReply(value, 'delta');
    const [choice] = listAt(chunk, 'choices');
    if (isRecord(choice)) {
      hasContent ||= isRecord(choice.delta) && isSaid(choice.delta);
      isFinished ||= choice.finish_reason !== null && choice.finish_reason !== undefined;
    }
    return `data: ${stringifyExact(chunk)}`;
  };
  return mapLines(filtered);
};

/** Numbers stay as received, because arguments may contain them. */
const parsed = (text: string): unknown => {
  const value = parsedJson(text);
  return value !== undefined && hasInexactNumber(text) ? parseWithDigits(withoutMark(text)) : value;
};

const formatEvent = (value: unknown): string => `data: ${stringifyExact(value)}\n\n`;

/** A server that sends `[DONE]` has sent a complete reply. */
const FINISH = { choices: [{ delta: {}, finish_reason: 'stop' }] };

const formatReplyEvents = (reply: Json): string => {
  const choices = listAt(reply, 'choices').map((choice) =>
    isRecord(choice) ? { ...choice, delta: choice.message, message: undefined } : choice,
  );
  const [choice] = choices;
  const isFinished = isRecord(choice) && typeof choice.finish_reason === 'string';
  return `${formatEvent({ ...reply, choices })}${isFinished ? '' : formatEvent(FINISH)}data: ${DONE}\n\n`;
};

const isSaid = ({ content, tool_calls: calls }: Json): boolean =>
  Boolean(content) || listAt({ calls }, 'calls').length > 0;

/** Removes unused fields and unifies the others. */
const uniformReply = (reply: Json, part: 'delta' | 'message'): Json => {
  const { error, ...rest } = without(reply, ['id', 'created', 'model']);
  if (error !== undefined && error !== null) return { error: uniformError(error) };
  const choices = listAt(reply, 'choices').filter(isRecord);
  return {
    ...rest,
    ...(!isRecord(reply.usage) && { usage: undefined }),
    choices: choices.map((choice) => {
      const message = choice[part];
      const finish = choice.finish_reason;
      return {
        ...choice,
        finish_reason: typeof finish === 'string' && finish !== '' ? finish : null,
        [part]: isRecord(message) ? uniformMessage(message) : part === 'delta' ? null : {},
      };
    }),
  };
};

const uniformError = (error: unknown): Json =>
  isRecord(error) ? { ...error, message: String(error.message ?? '') } : { message: String(error) };

const uniformMessage = (message: Json): Json => {
  const nonTextKeys = ['reasoning', 'reasoning_content'].filter(
    (key) => typeof message[key] !== 'string',
  );
  const { tool_calls: calls, ...rest } = without(message, ['role', ...nonTextKeys]);
  const listed = Array.isArray(calls) ? calls.filter(isRecord).map(uniformCall) : [];
  return listed.length > 0 ? { ...rest, tool_calls: listed } : rest;
};

const without = (from: Json, keys: string[]): Json =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)));

const uniformCall = (call: Json): Json => {
  const of = isRecord(call.function) ? call.function : {};
  const args = of.arguments;
  return {
    ...call,
    index: typeof call.index === 'number' ? call.index : undefined,
    id: isAnyNumber(call.id) ? String(call.id) : call.id,
    function: { ...of, arguments: isRecord(args) ? stringifyExact(args) : (args ?? '') },
  };
};
