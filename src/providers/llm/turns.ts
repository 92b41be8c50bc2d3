import type {
  JSONValue,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import {
  ModelFailure,
  type ReplyReasoning,
  type ToolCall,
  type ToolSpec,
  type Turn,
} from './model.js';
import { shapeTurns } from './shape.js';

interface ReceivingModel {
  name: string;
  modelId: string;
}

type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

/**
 * Consecutive results become one message. Throws ModelFailure if there are no turns, or a call has
 * no result.
 */
export const buildModelPrompt = (to: ReceivingModel, turns: Turn[]): LanguageModelV4Prompt => {
  const { name } = to;
  const prompt: LanguageModelV4Prompt = [];
  const open = new Set<string>();
  const refuseOpen = (): void => {
    if (open.size === 0) return;
    throw new ModelFailure(
      'bad_request',
      `${name} was not called: tool calls and tool results do not match. Start a new conversation`,
    );
  };
  for (const turn of shapeTurns(turns)) {
    const last = prompt.at(-1);
    if (turn.role === 'tool') {
      open.delete(turn.toolCallId);
      if (last?.role === 'tool') last.content.push(toToolResult(turn));
      else prompt.push({ role: 'tool', content: [toToolResult(turn)] });
      continue;
    }
    refuseOpen();
    prompt.push(toPromptMessage(turn, to));
    if (turn.role === 'assistant') for (const { id } of turn.toolCalls) open.add(id);
  }
  refuseOpen();
  if (prompt.length > 0) return prompt;
  throw new ModelFailure(
    'bad_request',
    `${name} was not called: the conversation is empty. Send a message first`,
  );
};

export const functionTools = (specs: ToolSpec[]): LanguageModelV4FunctionTool[] =>
  specs.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    inputSchema,
  }));

/** Reasoning is sent only to the model that wrote it. */
const toPromptMessage = (
  turn: Exclude<Turn, { role: 'tool' }>,
  to: ReceivingModel,
): LanguageModelV4Message => {
  if (turn.role !== 'assistant') {
    const { role, content } = turn;
    return role === 'system' ? { role, content } : { role, content: [toTextPart(content)] };
  }
  const isOwn = turn.reasoning?.model === to.name && turn.reasoning.modelId === to.modelId;
  const reasoning = isOwn ? turn.reasoning : undefined;
  const calls = turn.toolCalls.map((call) => callPart(call, reasoning?.signatures?.[call.id]));
  // Anthropic rejects an empty text.
  const text = turn.content === '' ? [] : [toTextPart(turn.content)];
  return {
    role: 'assistant',
    content: [...text, ...calls],
    ...(reasoning && { providerOptions: { openaiCompatible: toReasoningFields(reasoning) } }),
  };
};

const toReasoningFields = ({ text, field, details }: ReplyReasoning): Record<string, JSONValue> => {
  if (details) return { reasoning_details: toJsonValue(details) };
  return field === null ? {} : { [field]: text };
};

const toJsonValue = (value: unknown): JSONValue => JSON.parse(JSON.stringify(value));

const callPart = ({ id, name, arguments: input }: ToolCall, signature: string | undefined) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: name,
  input,
  // Read by the adapters of Google and of compatible servers.
  ...(signature !== undefined && { providerOptions: { google: { thoughtSignature: signature } } }),
});

const toTextPart = (text: string) => ({ type: 'text' as const, text });

const toToolResult = (turn: Extract<Turn, { role: 'tool' }>): ToolMessage['content'][number] => ({
  type: 'tool-result',
  toolCallId: turn.toolCallId,
  toolName: turn.toolName,
  output: { type: 'text', value: turn.content },
});
