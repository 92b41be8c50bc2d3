import type { ModelMessage, ToolSet } from 'ai';
import type { ToolSpec, Turn } from './model.js';

type AiModule = typeof import('ai');

/**
 * Converts our turns to the AI SDK's messages. An assistant turn without text and calls is left
 * out.
 */
export const sdkMessages = (turns: Turn[]): ModelMessage[] =>
  turns.filter((turn) => !isSilent(turn)).map(messageOf);

/** Converts tools without `execute`, so that the SDK returns the calls and runs none of them. */
export const sdkTools = ({ jsonSchema, tool }: AiModule, specs: ToolSpec[]): ToolSet =>
  Object.fromEntries(
    specs.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema) }),
    ]),
  );

const isSilent = (turn: Turn): boolean =>
  turn.role === 'assistant' && turn.content === '' && turn.toolCalls.length === 0;

const messageOf = (turn: Turn): ModelMessage => {
  if (turn.role === 'tool') return resultOf(turn);
  if (turn.role !== 'assistant') return { role: turn.role, content: turn.content };
  const calls = turn.toolCalls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.name,
    input: call.arguments,
  }));
  // Anthropic refuses an empty text.
  const text = turn.content === '' ? [] : [{ type: 'text' as const, text: turn.content }];
  return { role: 'assistant', content: [...text, ...calls] };
};

const resultOf = (turn: Extract<Turn, { role: 'tool' }>): ModelMessage => ({
  role: 'tool',
  content: [
    {
      type: 'tool-result',
      toolCallId: turn.toolCallId,
      toolName: turn.toolName,
      output: { type: 'text', value: turn.content },
    },
  ],
});
