import { numberAt, textAt } from '../../kernel/jsonvalue.js';
import type { ModelFailureKind } from '../llm/model.js';
import type { ToolEvent } from './tool.js';

/** From the HTTP status that the tool reports. */
export const failureFromStatus = (status: number | null): Extract<ToolEvent, { is: 'failure' }> => {
  const detail = status === null ? '' : `status ${status}`;
  return { is: 'failure', kind: kindOfStatus(status), detail };
};

const kindOfStatus = (status: number | null): ModelFailureKind => {
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return 'credentials';
  if (status === 404) return 'unknown_model';
  if (status === 413) return 'context_length';
  return status !== null && status >= 400 && status < 500 ? 'bad_request' : 'server';
};

const WORDS: [RegExp, ModelFailureKind][] = [
  [/usage limit|rate limit|quota|\b429\b|resource.?exhausted/i, 'rate_limited'],
  [/not logged in|unauthori[sz]ed|authenticat|\b401\b|\b403\b|api key|log ?in/i, 'credentials'],
  [/context (window|length)|too long|too large/i, 'context_length'],
  [/model.{0,80}(not found|not supported|does not exist)|\b404\b/i, 'unknown_model'],
];

/** The words are not stored, because they may quote the prompt. */
export const failureFromMessage = (event: unknown): ToolEvent[] => {
  const words = textAt(event, 'error', 'message') ?? '';
  const kind = WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'server';
  return [{ is: 'failure', kind, detail: '' }];
};

export const toolUsage = (
  reported: unknown,
  input = 'input_tokens',
  output = 'output_tokens',
): Extract<ToolEvent, { is: 'usage' }> => ({
  is: 'usage',
  inputTokens: numberAt(reported, input),
  outputTokens: numberAt(reported, output),
});
