import { createHash } from 'node:crypto';
import { isRecord, listAt, parsedJson } from '../../kernel/jsonvalue.js';

type Message = Record<string, unknown>;
type Body = Record<string, unknown> & { messages: Message[] };

/** Request features that the server of a model has rejected. Later requests omit them. */
export interface DialectTraits {
  /** In the order in which they were learned. */
  adaptations: Set<string>;
}

interface Adaptation {
  refusal: RegExp;
  /** Null if the body does not contain the rejected feature. */
  adapt(body: Body): Body | null;
}

const FIELDS = ['stream_options', 'tool_choice'];
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details'];
const NOT_ALLOWED =
  /unsupported|not supported|not permitted|not allowed|unexpected|unrecognized|unknown|extra/i;

/** Inserted between tool results and a user message if the roles must alternate. */
const FILLER = 'I have read the results.';

/** Mildest first. */
const ADAPTATIONS = new Map<string, Adaptation>([
  [
    // The wording of OpenAI, which compatible servers repeat.
    'max_completion_tokens',
    {
      refusal: /max_completion_tokens/,
      adapt: ({ max_tokens, ...body }) =>
        max_tokens === undefined ? null : { ...body, max_completion_tokens: max_tokens },
    },
  ],
  ...FIELDS.map((field): [string, Adaptation] => [
    field,
    {
      refusal: new RegExp(`\\b${field}\\b`),
      adapt: (body) => (body[field] === undefined ? null : { ...body, [field]: undefined }),
    },
  ]),
  [
    'without reasoning',
    {
      refusal: new RegExp(`\\breasoning(_content|_details)?\\b.*(?:${NOT_ALLOWED.source})`, 'is'),
      adapt: (body) => changed(body, (message) => without(message, REASONING)),
    },
  ],
  [
    // DeepSeek rejects calls without it, even those of other models.
    'with reasoning',
    {
      refusal: /\breasoning_content\b.*(?:must|missing|required|passed back)/is,
      adapt: (body) =>
        changed(body, (message) =>
          message.tool_calls === undefined || message.reasoning_content !== undefined
            ? message
            : { ...message, reasoning_content: '' },
        ),
    },
  ],
  [
    'content as text',
    {
      refusal: /\bcontent\b.*(?:null|none|string|required|missing)/is,
      adapt: (body) =>
        changed(body, (message) =>
          message.content === null || message.content === undefined
            ? { ...message, content: '' }
            : message,
        ),
    },
  ],
  [
    // Mistral takes ids of nine letters and digits. A conversation may have those of other models.
    'short call ids',
    {
      refusal: /tool.?call.?id.*length/is,
      adapt: (body) => changed(body, withShortIds),
    },
  ],
  [
    // Gemini, through its compatible address.
    'names of results',
    {
      refusal:
        /\b(?:tool|function)\w*\b.*\bname\b.*(?:empty|required|missing|need|must)|need a name/is,
      adapt: (body) => {
        const names = new Map(callsIn(body).map((call) => [call.id, functionName(call)]));
        return changed(body, (message) =>
          message.role === 'tool' && message.name === undefined
            ? { ...message, name: names.get(message.tool_call_id) }
            : message,
        );
      },
    },
  ],
  [
    'plain schemas',
    {
      refusal: /additionalProperties|\$schema/,
      adapt: (body) => {
        const tools = withoutKeys(body.tools, ['additionalProperties', '$schema']);
        return JSON.stringify(tools) === JSON.stringify(body.tools) ? null : { ...body, tools };
      },
    },
  ],
  [
    'turns alternate',
    {
      refusal: /alternat|unexpected role|expected last role|after (?:a )?tool/i,
      adapt: (body) => {
        const messages = body.messages.flatMap((message, at) =>
          message.role === 'user' && body.messages[at - 1]?.role === 'tool'
            ? [{ role: 'assistant', content: FILLER }, message]
            : [message],
        );
        return messages.length === body.messages.length ? null : { ...body, messages };
      },
    },
  ],
  [
    'system as user',
    {
      refusal:
        /system (?:role|message|prompt|instruction)|role\W{1,5}(?:does not support\W{1,5})?system|alternat|only user/i,
      adapt: (body) => {
        const [system, user, ...rest] = body.messages;
        if (system?.role !== 'system') return null;
        if (user?.role !== 'user') {
          return { ...body, messages: [{ ...system, role: 'user' }, ...body.messages.slice(1)] };
        }
        const content = `${system.content}\n\n${user.content}`;
        return { ...body, messages: [{ ...user, content }, ...rest] };
      },
    },
  ],
]);

export const adaptBody = (text: string, { adaptations }: DialectTraits): string => {
  if (adaptations.size === 0) return text;
  let body = parseRequestBody(text);
  if (!body) return text;
  for (const [name, { adapt }] of ADAPTATIONS) {
    if (adaptations.has(name)) body = adapt(body) ?? body;
  }
  return JSON.stringify(body);
};

/** Null if no untried adaptation matches. */
export const adaptationFor = (
  { adaptations }: DialectTraits,
  { status, excerpt }: { status: number; excerpt: string },
  sent: string,
): string | null => {
  // llama.cpp returns 500 if the chat template raises an exception.
  const body = [400, 422, 500].includes(status) ? parseRequestBody(sent) : null;
  if (!body) return null;
  for (const [name, { refusal, adapt }] of ADAPTATIONS) {
    if (!adaptations.has(name) && refusal.test(excerpt) && adapt(body) !== null) return name;
  }
  return null;
};

const parseRequestBody = (text: string): Body | null => {
  const body = parsedJson(text);
  if (!isRecord(body) || !Array.isArray(body.messages)) return null;
  return { ...body, messages: listAt(body, 'messages').filter(isRecord) };
};

const changed = (body: Body, change: (message: Message) => Message): Body | null => {
  const messages = body.messages.map(change);
  const isSame = messages.every((message, at) => message === body.messages[at]);
  return isSame ? null : { ...body, messages };
};

const callsIn = ({ messages }: Body): Record<string, unknown>[] =>
  messages.flatMap((message) => listAt(message, 'tool_calls').filter(isRecord));

const functionName = (call: Record<string, unknown>): unknown =>
  isRecord(call.function) ? call.function.name : undefined;

const SHORT_ID = /^[A-Za-z0-9]{9}$/;

const shortId = (id: unknown): unknown =>
  typeof id !== 'string' || SHORT_ID.test(id)
    ? id
    : createHash('sha256').update(id).digest('hex').slice(0, 9);

const withShortIds = (message: Message): Message => {
  const calls = listAt(message, 'tool_calls').filter(isRecord);
  const ids = [message.tool_call_id, ...calls.map(({ id }) => id)];
  if (ids.every((id) => shortId(id) === id)) return message;
  return {
    ...message,
    ...(message.tool_call_id !== undefined && { tool_call_id: shortId(message.tool_call_id) }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({ ...call, id: shortId(call.id) })),
    }),
  };
};

/** Also within lists and objects. Properties of that name stay. */
const withoutKeys = (value: unknown, keys: string[], isNames = false): unknown => {
  if (Array.isArray(value)) return value.map((each) => withoutKeys(each, keys));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([key]) => isNames || !keys.includes(key));
  return Object.fromEntries(
    kept.map(([key, each]) => [key, withoutKeys(each, keys, !isNames && key === 'properties')]),
  );
};

const without = (message: Message, fields: string[]): Message =>
  fields.some((field) => message[field] !== undefined)
    ? Object.fromEntries(Object.entries(message).filter(([key]) => !fields.includes(key)))
    : message;
