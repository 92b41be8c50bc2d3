import type { ModelMessage, ToolSet } from 'ai';
import type { ToolSpec, Turn } from './model.js';

type AiModule = typeof import('ai');

/** Our turns as the AI SDK's messages; an answer without a word or a call is none. */
export const sdkMessages = (turns: Turn[]): ModelMessage[] =>
  turns.filter((turn) => !isSilent(turn)).map(messageOf);

/** Tools without `execute`: the SDK hands the calls back and runs none of them. */
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
  // Anthropic refuses a text that is empty.
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
