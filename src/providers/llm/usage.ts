import { isRecord } from '../../kernel/jsonvalue.js';

/** The usage that a provider reports for one call; reasoning is part of the output. */
export interface TokenUsage {
  inputTokens?: number;
  outputTokens?: number;
  reasoningTokens?: number;
}

/**
 * Returns the usage in a chunk of a stream, a reply or the body of an error, in the formats of
 * OpenAI, Anthropic, Google and Ollama; empty if there is none.
 */
export const usageIn = (body: unknown): TokenUsage => {
  if (!isRecord(body)) return {};
  const { usage, usageMetadata, message } = body;
  if (isRecord(usage)) return ofUsage(usage);
  if (isRecord(usageMetadata)) return ofGoogle(usageMetadata);
  if (isRecord(message) && isRecord(message.usage)) return ofUsage(message.usage);
  return tokenUsage({ input: body.prompt_eval_count, output: body.eval_count });
};

/** Reads the usage. Some servers count reasoning apart from the reply; then the total is used. */
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

/**
 * Returns a count. An endpoint may report anything; a value that is not a number counts as zero.
 */
const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.ceil(value) : 0;
