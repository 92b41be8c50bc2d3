import { parsedJson } from '../../../kernel/jsonvalue.js';
import { ModelFailure, type ToolCall, type Turn } from '../model.js';
import type { HistoryItem, ResponsePart } from './protocol.js';

type ModelItem = Extract<HistoryItem, { type: 'model' }>;
type ToolTurn = Extract<Turn, { role: 'tool' }>;

/**
 * A reply, its calls, their results and the following reply are one message. The last message is
 * that of the model. Throws ModelFailure if a call has no result.
 */
export const buildLlamaHistory = (name: string, turns: Turn[]): HistoryItem[] => {
  const results = indexToolResults(turns);
  const history: HistoryItem[] = [];
  for (const turn of turns) {
    if (turn.role === 'tool') continue;
    if (turn.role === 'assistant') {
      lastReply(history).response.push(
        ...(turn.content === '' ? [] : [turn.content]),
        ...turn.toolCalls.map((call, at) => toResponsePart(name, call, { at, results })),
      );
    } else history.push({ type: turn.role, text: turn.content });
  }
  if (history.length === 0) throw refused(name, 'the conversation is empty. Send a message first');
  lastReply(history);
  return history;
};

const lastReply = (history: HistoryItem[]): ModelItem => {
  const last = history.at(-1);
  if (last?.type === 'model') return last;
  const added: ModelItem = { type: 'model', response: [] };
  history.push(added);
  return added;
};

const indexToolResults = (turns: Turn[]): Map<string, ToolTurn> =>
  new Map(turns.flatMap((turn) => (turn.role === 'tool' ? [[turn.toolCallId, turn]] : [])));

const toResponsePart = (
  name: string,
  call: ToolCall,
  { at, results }: { at: number; results: Map<string, ToolTurn> },
): ResponsePart => {
  const result = results.get(call.id);
  if (!result)
    throw refused(name, 'tool calls and tool results do not match. Start a new conversation');
  return {
    type: 'functionCall',
    name: call.name,
    params: call.arguments,
    // Otherwise the model would see JSON inside a JSON string.
    result: parsedJson(result.content) ?? result.content,
    startsNewChunk: at === 0,
  };
};

const refused = (name: string, why: string): ModelFailure =>
  new ModelFailure('bad_request', `${name} was not called: ${why}`);
