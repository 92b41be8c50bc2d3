import { isRecord } from '../../kernel/jsonvalue.js';

export interface TokenUsage {
  inputTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
}

/** Formats of OpenAI, Anthropic, Google and Ollama. Empty if there is none. */
export const usageIn = (body: unknown): TokenUsage => {
  if (!isRecord(body)) return {};
  const { usage, usageMetadata, message } = body;
  if (isRecord(usage)) return ofUsage(usage);
  if (isRecord(usageMetadata)) return ofGoogle(usageMetadata);
  if (isRecord(message) && isRecord(message.usage)) return ofUsage(message.usage);
  return tokenUsage({ input: body.prompt_eval_count, output: body.eval_count });
};

/** Some servers count reasoning separately. The total is then used. */
const ofUsage = (usage: RawUsage): TokenUsage => {
  if ('prompt_tokens' in usage || 'completion_tokens' in usage) {
    const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = usage;
    const details = usage.completion_tokens_details;
    const rest = count(total) - count(input);
    return tokenUsage({
      input,
      output: Math.max(count(output), rest),
      reasoning: isRecord(details) ? details.reasoning_tokens : undefined,
    });
  }
  const { cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage;
  return tokenUsage({
    input: count(usage.input_tokens) + count(written) + count(read),
    output: usage.output_tokens,
  });
};

const ofGoogle = (usage: RawUsage): TokenUsage => {
  const { promptTokenCount: input, candidatesTokenCount: spoken, thoughtsTokenCount } = usage;
  const output = count(spoken) + count(thoughtsTokenCount);
  return tokenUsage({ input, output, reasoning: thoughtsTokenCount });
};

type RawUsage = Record<string, unknown>;

const tokenUsage = (of: { input: unknown; output: unknown; reasoning?: unknown }): TokenUsage => ({
  ...(count(of.input) > 0 && { inputTokens: count(of.input) }),
  ...(count(of.output) > 0 && { outputTokens: count(of.output) }),
  ...(count(of.reasoning) > 0 && { reasoningTokens: count(of.reasoning) }),
});

/** An endpoint may report anything, such as a number as text. */
const count = (value: unknown): number => {
  const tokens = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens > 0
    ? Math.ceil(tokens)
    : 0;
};
