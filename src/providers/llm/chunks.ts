import { randomUUID } from 'node:crypto';
import {
  hasInexactNumber,
  isAnyNumber,
  parseWithDigits,
  stringifyExact,
} from '../../kernel/exactjson.js';
import { isRecord, listAt, parsedJson, withoutMark } from '../../kernel/jsonvalue.js';
import { mapLines } from './lines.js';
import { type GlobalFetch, isErrorReply } from './wire.js';

type Json = Record<string, unknown>;

const DONE = '[DONE]';

/**
 * The adapters check replies strictly. Many servers send arguments as an object, an empty finish
 * reason or none, numbers for IDs, counts as text, no indexes, one JSON reply instead of a stream,
 * a message instead of a delta, or the former `function_call`.
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
    const isStreamed = typeof init?.body === 'string' && /"stream"\s*:\s*true/.test(init.body);
    if (!isRecord(reply) || !Array.isArray(reply.choices)) {
      return new Response(text, { status, headers });
    }
    const uniform = uniformReply(reply, 'message');
    if (isStreamed) {
      return new Response(formatReplyEvents(uniform), {
        status,
        headers: { 'content-type': 'text/event-stream' },
      });
    }
    return new Response(stringifyExact(uniform), { status, headers });
  };

/** Older versions of llama.cpp name the field of an error `error`. */
const EVENT_DATA = /^(?:data|error):\s*(.*?)\s*$/s;

const eventFilter = (): TransformStream<Uint8Array, Uint8Array> => {
  let hasContent = false;
  let isFinished = false;
  const withDelta = deltaReader();
  const withIndex = callIndexer();
  const filtered = (line: string): string => {
    const [, data] = EVENT_DATA.exec(line) ?? [];
    if (data === undefined) return line;
    if (data === DONE) return hasContent && !isFinished ? `${formatEvent(FINISH)}${line}` : line;
    const value = parsed(data);
    if (!isRecord(value)) return line;
    const chunk = uniformReply(withDelta(value), 'delta', withIndex);
    const [choice] = listAt(chunk, 'choices');
    if (isRecord(choice)) {
      hasContent ||= isRecord(choice.delta) && isSaid(choice.delta);
      isFinished ||= choice.finish_reason !== null && choice.finish_reason !== undefined;
    }
    return `data: ${stringifyExact(chunk)}`;
  };
  return mapLines(filtered);
};

/**
 * Some servers stream messages instead of deltas: pieces, or all that they have written. A message
 * after deltas repeats them.
 */
const deltaReader = (): ((chunk: Json) => Json) => {
  let hasDelta = false;
  let written = '';
  return (chunk) => {
    const [choice, ...rest] = listAt(chunk, 'choices');
    if (!isRecord(choice)) return chunk;
    const { delta, text, ...others } = choice;
    // The form of completions.
    const isText = typeof text === 'string' && !isRecord(delta);
    const message = isText ? { content: text } : choice.message;
    if (isRecord(delta) && isSaid(delta)) hasDelta = true;
    if (hasDelta || !isRecord(message)) return chunk;
    const content = typeof message.content === 'string' ? message.content : '';
    const isRepeated = written !== '' && content.startsWith(written);
    const piece = isRepeated ? content.slice(written.length) : content;
    written += piece;
    return {
      ...chunk,
      choices: [{ ...others, message: undefined, delta: { ...message, content: piece } }, ...rest],
    };
  };
};

/** Numbers stay as received, because arguments may contain them. */
const parsed = (text: string): unknown => {
  const value = parsedJson(text);
  return value !== undefined && hasInexactNumber(text) ? parseWithDigits(withoutMark(text)) : value;
};

const formatEvent = (value: unknown): string => `data: ${stringifyExact(value)}\n\n`;

/** A server that sends `[DONE]` has sent a complete reply. */
const FINISH = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

const formatReplyEvents = (reply: Json): string => {
  if (reply.error !== undefined) return formatEvent(reply);
  const choices = listAt(reply, 'choices').map((choice) =>
    isRecord(choice) ? { ...choice, delta: choice.message, message: undefined } : choice,
  );
  const [choice] = choices;
  const isFinished = isRecord(choice) && typeof choice.finish_reason === 'string';
  return `${formatEvent({ ...reply, choices })}${isFinished ? '' : formatEvent(FINISH)}data: ${DONE}\n\n`;
};

const isSaid = ({ content, tool_calls: calls, function_call: call }: Json): boolean =>
  Boolean(content) || listAt({ calls }, 'calls').length > 0 || isRecord(call);

type CallIndexer = (call: Json) => Json;

/** Without an index, a new ID starts the next call, and a piece without an ID continues the last. */
const callIndexer = (): CallIndexer => {
  const indexes = new Map<unknown, number>();
  let [last, next] = [0, 0];
  return (call) => {
    const { id, index } = call;
    if (typeof index === 'number') last = index;
    else if (id !== undefined) last = indexes.get(id) ?? next;
    next = Math.max(next, last + 1);
    if (id !== undefined) indexes.set(id, last);
    return { ...call, index: last };
  };
};

/** Removes unused fields and unifies the others. */
const uniformReply = (
  reply: Json,
  part: 'delta' | 'message',
  withIndex: CallIndexer = callIndexer(),
): Json => {
  const { error, ...rest } = without(reply, ['id', 'created', 'model']);
  if (isErrorReply(reply) || (error !== undefined && error !== null))
    return { error: uniformError(error ?? reply) };
  const choices = listAt(reply, 'choices').filter(isRecord);
  return {
    ...rest,
    usage: isRecord(reply.usage) ? uniformUsage(reply.usage) : undefined,
    choices: choices.map((choice, at) => {
      const message = choice[part];
      const finish = choice.finish_reason;
      return {
        ...choice,
        index: typeof choice.index === 'number' ? choice.index : at,
        finish_reason: typeof finish === 'string' && finish !== '' ? finish : null,
        [part]: isRecord(message)
          ? uniformMessage(message, withIndex)
          : part === 'delta'
            ? null
            : {},
      };
    }),
  };
};

/** The adapter accepts no others, and the status is a code. */
const uniformError = (error: unknown): Json => {
  if (!isRecord(error)) return { message: String(error) };
  const { message, type, code, status } = error;
  const codes = [code, status].filter((each) => typeof each === 'string' || isAnyNumber(each));
  return { message: String(message ?? ''), type: String(type ?? ''), code: String(codes[0] ?? '') };
};

/** Counts of tokens become integers. Others are omitted. */
const uniformUsage = (usage: Json): Json =>
  Object.fromEntries(
    Object.entries(usage).flatMap(([key, value]): [string, unknown][] => {
      if (isRecord(value) && !isAnyNumber(value)) return [[key, uniformUsage(value)]];
      if (!key.endsWith('_tokens')) return [];
      const isNumber = isAnyNumber(value) || (typeof value === 'string' && value.trim() !== '');
      const tokens = isNumber ? Math.ceil(Number(String(value))) : Number.NaN;
      return Number.isSafeInteger(tokens) && tokens >= 0 ? [[key, tokens]] : [];
    }),
  );

const uniformMessage = (message: Json, withIndex: CallIndexer): Json => {
  const nonTextKeys = ['reasoning', 'reasoning_content'].filter(
    (key) => typeof message[key] !== 'string',
  );
  const {
    tool_calls: calls,
    function_call: call,
    ...rest
  } = without(message, ['role', ...nonTextKeys]);
  const content = Array.isArray(rest.content) ? { content: textOfParts(rest.content) } : {};
  const given = listAt({ calls }, 'calls').filter(isRecord);
  const listed = (given.length === 0 && isRecord(call) ? [formerCall(call)] : given)
    .map(uniformCall)
    .map(withIndex);
  return { ...rest, ...content, ...(listed.length > 0 && { tool_calls: listed }) };
};

const textOfParts = (parts: unknown[]): string =>
  parts
    .flatMap((part) => (isRecord(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('');

/** Only the first piece of a call has a name. */
const formerCall = (call: Json): Json => ({ index: 0, function: call });

const without = (from: Json, keys: string[]): Json =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)));

const newCallId = (): string => `call_${randomUUID()}`;

const uniformCall = (call: Json): Json => {
  const of = isRecord(call.function) ? call.function : {};
  const args = of.arguments;
  return {
    ...call,
    type: 'function',
    id: isAnyNumber(call.id) ? String(call.id) : call.id || (of.name ? newCallId() : undefined),
    function: { ...of, arguments: isRecord(args) ? stringifyExact(args) : (args ?? '') },
  };
};
