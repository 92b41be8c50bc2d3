import { isRecord, parsedJson } from '../../kernel/jsonvalue.js';
import { ModelFailure } from './model.js';
import { type GlobalFetch, isErrorReply, streamErrorFailure } from './wire.js';

const LF = 10;
/** A token takes a few hundred bytes. */
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

/**
 * The parsers of the adapters read an unfinished line again with each chunk, so that an endless
 * line would block the event loop.
 */
export const boundedLines =
  (name: string, fetch: GlobalFetch): GlobalFetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const isWhole = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
    return isWhole ? response : through(lineBound(name), response);
  };

type NamedModel = Parameters<typeof streamErrorFailure>[0];

/** The adapter of Ollama would print an unreadable line to the console and continue. */
export const objectLines =
  (of: NamedModel, fetch: GlobalFetch): GlobalFetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const isStreamed = typeof init?.body === 'string' && init.body.includes('"stream":true');
    return isStreamed ? through(checkedLines(of), response) : response;
  };

/** The adapter of Google ignores an error within a stream. */
export const failOnErrors =
  (of: NamedModel, fetch: GlobalFetch): GlobalFetch =>
  async (input, init) => {
    const check = (line: string): string => {
      const value = line.includes('"error"') ? parsedJson(line.replace(/^data:/, '')) : undefined;
      if (isErrorReply(value)) throw streamErrorFailure(of, value);
      return line;
    };
    return through(mapLines(check), await fetch(input, init));
  };

/** Applies a function to each complete line. */
export const mapLines = (map: (line: string) => string): Filter => {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform: (piece, controller) => {
      const text = rest + decoder.decode(piece, { stream: true });
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      const lines = text.slice(0, end).split('\n');
      if (end > 0) controller.enqueue(encoder.encode(lines.map(map).join('\n')));
    },
    flush: (controller) => {
      rest += decoder.decode();
      if (rest !== '') controller.enqueue(encoder.encode(map(rest)));
    },
  });
};

type Filter = TransformStream<Uint8Array, Uint8Array>;

export const through = (filter: Filter, response: Response): Response => {
  const { body, status, headers } = response;
  return body ? new Response(body.pipeThrough(filter), { status, headers }) : response;
};

const lineBound = (name: string): Filter => {
  let length = 0;
  return new TransformStream({
    transform: (piece, controller) => {
      const end = piece.lastIndexOf(LF);
      length = end < 0 ? length + piece.length : piece.length - 1 - end;
      if (length > MAX_LINE_LENGTH) controller.error(invalidReply(name));
      else controller.enqueue(piece);
    },
  });
};

const checkedLines = (of: NamedModel): Filter => {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  const pass = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    for (const line of lines) check(of, line);
    if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.join('\n')}\n`));
  };
  return new TransformStream({
    transform: (piece, controller) => {
      const text = rest + decoder.decode(piece, { stream: true });
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      pass(text.slice(0, end), controller);
    },
    flush: (controller) => pass(rest + decoder.decode(), controller),
  });
};

const check = (of: NamedModel, line: string): void => {
  const value = parsedJson(line);
  if (!isRecord(value)) throw invalidReply(of.name);
  if ('error' in value) throw streamErrorFailure(of, value);
  const isChunk = 'message' in value && isRecord(value.message) && 'content' in value.message;
  if (!isChunk) throw invalidReply(of.name);
};

const invalidReply = (name: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} sent an invalid reply`);
