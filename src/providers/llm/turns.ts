import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import { ModelFailure, type ToolSpec, type Turn } from './model.js';

type ToolMessage = Extract<LanguageModelV3Message, { role: 'tool' }>;

/**
 * Converts our turns to the prompt that the adapters take. An assistant turn without text and calls
 * is left out, and results that follow one another are one message. Throws ModelFailure if there is
 * nothing to ask, or if a call has no result before the next turn: providers refuse both. `name` is
 * the model's.
 */
export const promptOf = (name: string, turns: Turn[]): LanguageModelV3Prompt => {
  const prompt: LanguageModelV3Prompt = [];
  const open = new Set<string>();
  const refuseOpen = (): void => {
    if (open.size === 0) return;
    throw new ModelFailure('bad_request', `${name} was not asked: the turns do not fit together`);
  };
  for (const turn of turns) {
    if (isSilent(turn)) continue;
    const last = prompt.at(-1);
    if (turn.role === 'tool') {
      open.delete(turn.toolCallId);
      if (last?.role === 'tool') last.content.push(resultOf(turn));
      else prompt.push({ role: 'tool', content: [resultOf(turn)] });
      continue;
    }
    refuseOpen();
    prompt.push(messageOf(turn));
    if (turn.role === 'assistant') for (const { id } of turn.toolCalls) open.add(id);
  }
  refuseOpen();
  if (prompt.length > 0) return prompt;
  throw new ModelFailure('bad_request', `${name} was not asked: there are no turns`);
};

/** Converts tools for the adapters. */
export const functionTools = (specs: ToolSpec[]): LanguageModelV3FunctionTool[] =>
  specs.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    inputSchema,
  }));

const isSilent = (turn: Turn): boolean =>
  turn.role === 'assistant' && turn.content === '' && turn.toolCalls.length === 0;

const messageOf = (turn: Exclude<Turn, { role: 'tool' }>): LanguageModelV3Message => {
  if (turn.role !== 'assistant') {
    const { role, content } = turn;
    return role === 'system' ? { role, content } : { role, content: [textOf(content)] };
  }
  const calls = turn.toolCalls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.name,
    input: call.arguments,
  }));
  // Anthropic refuses an empty text.
  const text = turn.content === '' ? [] : [textOf(turn.content)];
  return { role: 'assistant', content: [...text, ...calls] };
};

const textOf = (text: string) => ({ type: 'text' as const, text });

const resultOf = (turn: Extract<Turn, { role: 'tool' }>): ToolMessage['content'][number] => ({
  type: 'tool-result',
  toolCallId: turn.toolCallId,
  toolName: turn.toolName,
  output: { type: 'text', value: turn.content },
});
