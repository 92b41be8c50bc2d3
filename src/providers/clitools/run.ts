import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { systemClock } from '../../kernel/clock.js';
import { errorCode } from '../../kernel/failure.js';
import { parsedJson, textAt } from '../../kernel/jsonvalue.js';
import type { ConfinedProcess } from '../confine/confinement.js';
import { ModelFailure, type ModelFailureKind, ModelRefusal } from '../llm/model.js';
import type { SdkReply } from '../llm/reply.js';
import type { ReplyReader } from '../llm/replytext.js';
import type { ReplyTally } from '../llm/tally.js';
import type { TimeoutWatch } from '../llm/timeouts.js';
import { textTokens } from '../llm/tokens.js';
import { withoutJoiners } from './prompt.js';
import type { CliTool, ToolEvent, ToolQuota } from './tool.js';

export interface ToolListener {
  name: string;
  tool: CliTool;
  held: ConfinedProcess;
  watch: TimeoutWatch;
  reader: Pick<ReplyReader, 'take' | 'end'>;
  tally: ReplyTally;
  quota(reported: ToolQuota): void;
}

/** Maximum bytes of a stream, and characters of a line. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_LINE_LENGTH = 4 * 1024 * 1024;

/** Maximum characters of a reply. */
const MAX_TEXT_LENGTH = 4 * 1024 * 1024;
/** Time for a tool to end after its reply. */
const FAREWELL_MS = 300;

/** Throws ModelFailure. */
export const listen = async (of: ToolListener): Promise<SdkReply> => {
  const reply: SdkReply = { text: '', toolCalls: [], usage: {}, finishReason: 'error', seen: 0 };
  for await (const line of linesOf(of)) {
    // Other lines are remarks of the tool.
    const parsed = parsedJson(line);
    for (const event of of.tool.readers[textAt(parsed, 'type') ?? '']?.(parsed) ?? []) {
      if (event.is !== 'end') take(of, reply, event);
      else return await ended(of, reply, event);
    }
  }
  // The text after the colon may quote the prompt.
  const [how] = (await of.held.ended).split(':', 1);
  throw failed(of, 'invalid_reply', `sent no reply: ${how}`);
};

/** Throws ModelFailure. */
async function* linesOf(of: ToolListener): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  let bytes = 0;
  let rest: string[] = [];
  let length = 0;
  for await (const piece of chunksOf(of.held.stdout)) {
    bytes += piece.length;
    const [first = '', ...more] = decoder.write(piece).split('\n');
    rest.push(first);
    length += first.length;
    for (const next of more) {
      yield rest.join('');
      rest = [next];
      length = next.length;
    }
    if (bytes > MAX_BYTES || length > MAX_LINE_LENGTH)
      throw failed(of, 'invalid_reply', 'exceeded the maximum length of a reply');
  }
  yield rest.join('') + decoder.end();
}

/** A killed process leaves a broken pipe, which counts as the end. */
async function* chunksOf(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const piece of stream) yield piece;
  } catch (error) {
    if (!CUT.has(errorCode(error))) throw error;
  }
}

const CUT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

const take = (
  of: ToolListener,
  reply: SdkReply,
  event: Exclude<ToolEvent, { is: 'end' }>,
): void => {
  if (event.is === 'text') addText(of, reply, event.text);
  if (event.is === 'token') {
    of.watch.active();
    of.tally.begin();
  }
  if (event.is === 'quota') of.quota(event.quota);
  if (event.is === 'usage') {
    const { inputTokens, outputTokens } = reply.usage;
    reply.usage.inputTokens = sum(inputTokens, event.inputTokens);
    reply.usage.outputTokens = sum(outputTokens, event.outputTokens);
    of.tally.tell(reply.usage);
  }
  if (event.is === 'armed')
    throw failed(
      of,
      'invalid_reply',
      'was stopped because its own tools are enabled. It may use only the tools of Adjutant',
    );
  if (event.is !== 'failure') return;
  const why = `${of.name} ${REFUSED[event.kind] ?? 'failed'}${detail(event.detail)}`;
  throw new ModelRefusal(event.kind, why, {});
};

const REFUSED: Partial<Record<ModelFailureKind, string>> = {
  rate_limited: 'has used up its quota or rate limit',
  credentials: 'is no longer logged in or lacks permission',
  unknown_model: 'does not know the model',
  context_length: 'rejected the prompt as too long',
};

const detail = (text: string): string => (text === '' ? '' : ` (${text})`);

const addText = (
  { name, watch, reader, tally }: ToolListener,
  reply: SdkReply,
  piece: string,
): void => {
  const text = withoutJoiners(piece);
  watch.active();
  tally.begin();
  tally.add(text);
  reply.text += text;
  if (reply.text.length > MAX_TEXT_LENGTH)
    throw new ModelFailure('invalid_reply', `${name} exceeded the maximum length of a reply`);
  if (text !== '') reader.take(text);
};

const ended = async (
  of: ToolListener,
  reply: SdkReply,
  { text, isCut }: Extract<ToolEvent, { is: 'end' }>,
): Promise<SdkReply> => {
  if (reply.text === '' && text !== null) addText(of, reply, text);
  await Promise.race([of.held.ended, systemClock.wait(FAREWELL_MS)]);
  const finishReason = isCut ? 'length' : 'stop';
  return of.reader.end({ ...reply, finishReason, seen: textTokens(reply.text) });
};

const failed = ({ name }: ToolListener, kind: ModelFailureKind, what: string): ModelFailure =>
  new ModelFailure(kind, `${name} ${what}`);

const sum = (before: number | undefined, more: number | null): number | undefined =>
  more === null ? before : (before ?? 0) + more;
