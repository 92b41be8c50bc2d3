import { randomUUID } from 'node:crypto';
import Bourne from '@hapi/bourne';
import { parseExact, stringifyExact } from '../../kernel/exactjson.js';
import { isRecord, listAt } from '../../kernel/jsonvalue.js';
import { readArguments } from './arguments.js';
import type { ModelRequest, Turn } from './model.js';
import type { SdkReply } from './reply.js';

type ReadCall = SdkReply['toolCalls'][number];

/** Beginnings of a call in the syntax of some model. */
const TAG = /^(?:<tool_call>|<function_call>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>)/;
/** Beginnings in the syntax of other models, which `translated` rewrites. */
const FOREIGN_TAGS = [
  ...['<|tool_call|>', '<|START_ACTION|>', '<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>'],
  ...['<|tool_calls_section_begin|>', '<|tool_call_begin|>', '<minimax:tool_call>'],
  ...['<function_calls>', '<invoke name=', '<|channel|>commentary to=functions.'],
];
const NAME = '([\\w.-]{1,64})';
const CALL = '<tool_call>$1[ARGS]$2</tool_call>';
/** In this order. */
const TRANSLATIONS: [syntax: RegExp, ours: string][] = [
  // Granite, Phi and Command R.
  [
    /^(?:<\|tool_call\|>|<\|START_ACTION\|>)(.*?)(?:<\|\/tool_call\|>|<\|END_ACTION\|>)?$/s,
    '[TOOL_CALLS]$1',
  ],
  // DeepSeek.
  [/<｜tool▁calls▁(?:begin|end)｜>/g, ''],
  [
    new RegExp(
      `<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?${NAME}(?:<｜tool▁sep｜>|\\n\`\`\`json\\n)(.*?)(?:\\n\`\`\`)?(?:<｜tool▁call▁end｜>|$)`,
      'gs',
    ),
    CALL,
  ],
  // Kimi.
  [/<\|tool_calls_section_(?:begin|end)\|>/g, ''],
  [
    new RegExp(
      `<\\|tool_call_begin\\|>(?:functions\\.)?${NAME}(?::\\d+)?<\\|tool_call_argument_begin\\|>(.*?)(?:<\\|tool_call_end\\|>|$)`,
      'gs',
    ),
    CALL,
  ],
  // gpt-oss.
  [
    new RegExp(
      `^<\\|channel\\|>commentary to=functions\\.${NAME}[^{]{0,100}<\\|message\\|>(.*?)(?:<\\|call\\|>)?$`,
      's',
    ),
    CALL,
  ],
  // MiniMax and Claude.
  [/<\/?(?:minimax:tool_call|function_calls)>/g, ''],
  [
    new RegExp(`<invoke name="${NAME}">(.*?)(?:</invoke>|$)`, 'gs'),
    '<tool_call><function=$1>$2</function></tool_call>',
  ],
  [new RegExp(`<parameter name="${NAME}">`, 'g'), '<parameter=$1>'],
  // GLM.
  [
    new RegExp(`<arg_key>${NAME}</arg_key>\\s*<arg_value>(.*?)(?:</arg_value>|$)`, 'gs'),
    '<parameter=$1>$2</parameter>',
  ],
  [
    new RegExp(`<tool_call>\\s*${NAME}\\s*(?=<parameter=|</tool_call>|$)`, 'g'),
    '<tool_call><function=$1>',
  ],
];
const FENCE = /^```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```$/s;
/** Hermes, Qwen and GLM. The closing tag may be a stop sequence, and therefore missing. */
const TAGGED = /<(tool_call|function_call)>(.*?)(?:<\/\1>|$)/gs;
const ENDS_TAGGED = /<\/(?:tool_call|function_call)>$/;
/** Llama and Qwen Coder. */
const FUNCTION = /^<function=([\w.-]{1,64})>(.*?)(?:<\/function>|$)/s;
const PARAMETER = /<parameter=([\w.-]{1,64})>\n?(.*?)\n?<\/parameter>/gs;
/** Mistral. */
const NAMED_ARGS = /^([\w.-]{1,64})\[ARGS\](.*)$/s;

interface WrittenCall {
  name: string;
  args: unknown;
}

/**
 * Some models write calls as text, because their server does not parse them. Null: no call.
 * `unreadable`: a call of an unknown tool, or after other text. A text from the conversation is no
 * call, so that quoted content cannot become one.
 */
export const parseCallsInText = (
  text: string,
  { tools, turns }: Pick<ModelRequest, 'tools' | 'turns'>,
): ReadCall[] | 'unreadable' | null => {
  const reply = text.trim();
  const written = taggedCalls(translated(reply)) ?? (tools.length > 0 ? plainCalls(reply) : null);
  if (written === null || isRepeated(reply, turns)) return null;
  const names = new Map(tools.map(({ name }) => [comparable(name), name]));
  const calls = written.flatMap(({ name, args = {} }): ReadCall[] => {
    const toolName = names.get(comparable(name));
    if (toolName === undefined) return [];
    const input = readArguments(typeof args === 'string' ? args : (stringifyExact(args) ?? ''));
    return [{ toolCallId: `call_${randomUUID()}`, toolName, ...input }];
  });
  return calls.length > 0 && calls.length === written.length ? calls : 'unreadable';
};

/** Such text is not shown while it is written. */
export const mayBecomeCall = (text: string): boolean => {
  const begun = text.slice(0, 200);
  if (TAGS.some((tag) => tag.startsWith(begun) || begun.startsWith(tag))) return true;
  const json = begun.replace(/^(?:`{1,3}$|```[\w-]*(?:[ \t]*\n|$))/, '').trimStart();
  if (json === '') return begun.startsWith('`');
  if (!/^[[{]/.test(json)) return false;
  const keys = json.replace(/^\[?\s*\{?\s*/, '');
  return CALL_KEYS.some((key) => `"${key}"`.startsWith(keys) || keys.startsWith(`"${key}"`));
};

const TAGS = [
  ...['<tool_call>', '<function_call>', '<function=', '[TOOL_CALLS]', '<|python_tag|>'],
  ...FOREIGN_TAGS,
];
const CALL_KEYS = [
  ...['name', 'arguments', 'parameters', 'args', 'type', 'id', 'function', 'tool', 'tool_name'],
  'tool_calls',
];

const translated = (reply: string): string => {
  const isForeign = FOREIGN_TAGS.some((tag) => reply.startsWith(tag));
  if (!isForeign && !reply.startsWith('<tool_call>')) return reply;
  const text = TRANSLATIONS.reduce(
    (out, [syntax, ours]) => out.replace(syntax, ours),
    reply,
  ).trim();
  // An empty tag stands for calls that cannot be parsed.
  return isForeign && !TAG.test(text) ? '<tool_call>' : text;
};

/** Null if there are none. Empty if they cannot be parsed. */
const taggedCalls = (reply: string): WrittenCall[] | null => {
  if (!TAG.test(reply)) return ENDS_TAGGED.test(reply) && !reply.includes('`') ? [] : null;
  const tagged = [...reply.matchAll(TAGGED)];
  if (tagged.length > 0) {
    const isAll = reply.replace(TAGGED, '').trim() === '';
    const read = tagged.map(([, , inner = '']) => innerCalls(inner.trim()));
    return isAll && read.every((calls) => calls.length > 0) ? read.flat() : [];
  }
  return innerCalls(reply.replace(/^(?:\[TOOL_CALLS\]|<\|python_tag\|>)/, '').trim());
};

const innerCalls = (inner: string): WrittenCall[] => {
  const [, name, body = ''] = FUNCTION.exec(inner) ?? NAMED_ARGS.exec(inner) ?? [];
  if (name !== undefined) {
    const found = [...body.matchAll(PARAMETER)];
    const parameters = found.map(([, key = '', value = '']) => [key, value]);
    return [{ name, args: parameters.length > 0 ? Object.fromEntries(parameters) : body }];
  }
  return callsIn(json(inner)) ?? [];
};

/** Plain JSON, or JSON in a code block. */
const plainCalls = (reply: string): WrittenCall[] | null => {
  const [, inner = reply] = FENCE.exec(reply) ?? [];
  if (!/^[[{]/.test(inner.trim())) return null;
  const value = json(inner);
  if (value !== undefined) return callsIn(value, true);
  const lines = inner.split(/[\n;]/).filter((line) => line.trim() !== '');
  return callsIn(lines.map(json), true);
};

const ALLOWED = new Set([...CALL_KEYS, 'input', 'function_name', 'tool_call_id']);

/** `isStrict`: arguments are required. */
const callsIn = (value: unknown, isStrict = false): WrittenCall[] | null => {
  if (Array.isArray(value)) {
    const calls = value.map((each) => callsIn(each, isStrict));
    return calls.length > 0 && calls.every((each) => each !== null) ? calls.flat() : null;
  }
  if (!isRecord(value) || !Object.keys(value).every((key) => ALLOWED.has(key))) return null;
  if (Array.isArray(value.tool_calls)) return callsIn(listAt(value, 'tool_calls'), isStrict);
  if (isRecord(value.function)) return callsIn(value.function, isStrict);
  const name = value.name ?? value.tool_name ?? value.function_name ?? value.tool ?? value.function;
  const args = value.arguments ?? value.parameters ?? value.args ?? value.input;
  if (typeof name !== 'string' || !/^[\w.:-]{1,64}$/.test(name)) return null;
  if (args === undefined || args === null) return isStrict ? null : [{ name, args: {} }];
  return isRecord(args) || typeof args === 'string' ? [{ name, args }] : null;
};

/** Undefined for invalid JSON or a `__proto__` key. */
const json = (text: string): unknown => {
  try {
    Bourne.parse(text.trim());
    return parseExact(text);
  } catch {
    return undefined;
  }
};

/** Models may write another separator in the name of a tool. */
const comparable = (name: string): string => name.replace(/[^\w-]/g, '_').toLowerCase();

/** Ignores spaces and escapes. */
const isRepeated = (reply: string, turns: Turn[]): boolean => {
  const [, inner = reply] = FENCE.exec(reply) ?? [];
  const bare = bareText(inner.replace(TAGGED, '$2'));
  return turns.some(
    ({ role, content }) => (role === 'user' || role === 'tool') && bareText(content).includes(bare),
  );
};

const bareText = (text: string): string => text.replace(/[\s\\]+/g, '');
