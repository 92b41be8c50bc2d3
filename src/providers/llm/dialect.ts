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
      refusal: /system (?:role|message|prompt|instruction)|role\W{1,5}system|alternat|only user/i,
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

const without = (message: Message, fields: string[]): Message =>
  fields.some((field) => message[field] !== undefined)
    ? Object.fromEntries(Object.entries(message).filter(([key]) => !fields.includes(key)))
    : message;
