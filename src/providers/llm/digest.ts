import { truncateText } from '../../kernel/excerpt.js';
import { parsedJson } from '../../kernel/jsonvalue.js';
import { extractFields } from './extract.js';
import { abortFailure } from './failure.js';
import { headline } from './headline.js';
import type { Model, ModelRequest, StepReply, Turn } from './model.js';
import { type Prompt, readPrompt } from './prompt.js';
import { isSecretName, quote, quoteUnlessName } from './quote.js';

const TEXT_LINES = 10;
const TEXT_BYTES = 8192;
const LINE_CHARACTERS = 160;
const TASK_CHARACTERS = 200;
const SETUP =
  'To set one up, run adjutant models recommend --install or adjutant models create (see adjutant help models).';
/** Maximum length of the reasons. */
const REASONS_CHARACTERS = 600;
const NOT_CONFIGURED = 'No language model is configured.';
const SIGNED = 'This text is from the built-in digest, not from a language model.';

/** Whether the digest wrote this text. */
export const isDigest = (text: string): boolean => text.includes(SIGNED);

/**
 * Not a language model, but a factual extract of the payload, so that a webhook never ends without
 * a result. The same input gives the same bytes. The payload is quoted and never obeyed.
 */
export const digest: Model = {
  name: 'digest',
  provider: 'digest',
  /** No prompt is too long. */
  contextWindow: Number.MAX_SAFE_INTEGER,
  step: async (request) => reply(request),
};

const reply = (request: ModelRequest): StepReply => {
  const { turns, signal, onText } = request;
  if (signal.aborted) throw abortFailure(digest.name, signal);
  const text = renderDigest(turns, getDigestReason(request));
  onText?.(text);
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  return { text, toolCalls: [], usage, finish: 'stop' };
};

/** Why the digest answers instead of a language model. */
const getDigestReason = ({ unanswered = [], isDigestChosen }: ModelRequest): string => {
  if (unanswered.length > 0) {
    return `No language model answered. ${truncateText(unanswered.join('. '), REASONS_CHARACTERS)}.`;
  }
  return isDigestChosen === true ? 'The built-in digest was chosen to answer.' : NOT_CONFIGURED;
};

const renderDigest = (turns: Turn[], reason: string): string => {
  const last = turns.findLast((turn) => turn.role === 'user');
  const prompt = readPrompt(last?.content ?? '');
  const { payload } = prompt;
  return payload === null ? withoutPayload(prompt, reason) : withPayload(prompt, payload, reason);
};

const withPayload = ({ task, event }: Prompt, payload: string, reason: string): string => {
  const json = parsedJson(payload);
  const parsed = typeof json === 'object' ? json : null;
  const body = parsed === null ? textLines(payload) : extractFields(parsed);
  const first = body[0] ?? 'an empty payload';
  const head = parsed === null ? textHeadline(event, first) : headline(parsed, event, first);
  const taskLines = task === '' ? [] : [`Task not carried out: ${quote(task, TASK_CHARACTERS)}`];
  return [
    head,
    '',
    ...body,
    ...(body.length > 0 ? [''] : []),
    ...taskLines,
    signature(reason),
  ].join('\n');
};

const withoutPayload = ({ task }: Prompt, reason: string): string => {
  const taskLines = task === '' ? 'an empty task' : quote(task, TASK_CHARACTERS);
  const setup = reason === NOT_CONFIGURED ? ` ${SETUP}` : '';
  return [`${reason} Task not carried out: ${taskLines}`, '', `${SIGNED}${setup}`].join('\n');
};

/** The usual reason is explained by the last sentence. */
const signature = (reason: string): string =>
  reason === NOT_CONFIGURED ? `${SIGNED} ${SETUP}` : `${reason} ${SIGNED}`;

const textHeadline = (event: string | null, first: string): string =>
  `${quoteUnlessName(event ?? 'webhook')}: ${first}`;

/** For a payload that is not JSON. */
const textLines = (payload: string): string[] =>
  payload
    .slice(0, TEXT_BYTES)
    .split(/\r\n|\r|\n/)
    .filter((text) => text.trim() !== '')
    .slice(0, TEXT_LINES)
    .map((text) => quote(withoutSecret(text), LINE_CHARACTERS));

/** `password = hunter2` keeps only the name. */
const withoutSecret = (text: string): string => {
  const [name = '', rest] = text.split(/[:=]/, 2);
  return rest !== undefined && isSecretName(name) ? `${name.trim()}: [hidden]` : text;
};
