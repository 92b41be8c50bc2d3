import {
  hasInexactNumber,
  parseWithDigits,
  stringifyExact,
  withoutExactNumbers,
} from '../../kernel/exactjson.js';
import { isRecord, listAt, memberAt, parsedJson, withoutMark } from '../../kernel/jsonvalue.js';
import { mapLines, through } from './lines.js';
import type { GlobalFetch } from './wire.js';

/** Replaces arguments of calls in a reply or a chunk of one. */
type Rewrite = (reply: unknown) => void;

/**
 * These adapters parse arguments as objects, which would round numbers. Arguments with such a
 * number become text, so that the call is rejected by name of the number.
 */
export const exactArguments =
  (fetch: GlobalFetch, rewrite: Rewrite): GlobalFetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const isWhole = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
    if (!isWhole)
      return through(
        mapLines((line) => rewrittenLine(line, rewrite)),
        response,
      );
    const { status, headers } = response;
    return new Response(rewritten(await response.text(), rewrite), { status, headers });
  };

/** A line of JSON, or of an event stream with one JSON value per event. */
const rewrittenLine = (line: string, rewrite: Rewrite): string => {
  const [prefix = ''] = /^(data:\s*)?/.exec(line) ?? [];
  return prefix + rewritten(line.slice(prefix.length), rewrite);
};

const rewritten = (text: string, rewrite: Rewrite): string => {
  if (!hasInexactNumber(text) || parsedJson(text) === undefined) return text;
  const reply = parseWithDigits(withoutMark(text));
  rewrite(reply);
  return stringifyExact(reply) ?? text;
};

export const googleArguments: Rewrite = (reply) => {
  for (const candidate of listAt(reply, 'candidates')) {
    for (const part of listAt(memberAt(candidate, 'content'), 'parts')) {
      const call = memberAt(part, 'functionCall');
      if (isRecord(call) && isRecord(call.args)) call.args = textOf(call.args);
    }
  }
};

/** Streamed arguments of Anthropic are text already. */
export const anthropicArguments: Rewrite = (reply) => {
  for (const part of listAt(reply, 'content')) {
    if (isRecord(part) && isRecord(part.input)) part.input = textOf(part.input);
  }
};

/** The adapter of Ollama accepts no text here. A string of the digits keeps the number. */
export const ollamaArguments: Rewrite = (reply) => {
  for (const call of listAt(memberAt(reply, 'message'), 'tool_calls')) {
    const of = memberAt(call, 'function');
    if (isRecord(of)) of.arguments = withoutExactNumbers(of.arguments);
  }
};

const textOf = (args: object): unknown => stringifyExact(args) ?? args;
