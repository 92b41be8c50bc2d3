import type { Turn } from './model.js';

type AssistantTurn = Extract<Turn, { role: 'assistant' }>;

/** Every conversation must start with a user message. */
const LEFT_OUT = '[The beginning of this conversation was left out.]';

/**
 * Every provider and chat template accepts one system turn, then alternating user and assistant
 * turns. A later system turn becomes a note in the next user turn, or in the system turn.
 */
export const shapeTurns = (turns: Turn[]): Turn[] => {
  const system: string[] = [];
  const shaped: Turn[] = [];
  let notes: string[] = [];
  for (const turn of turns) {
    const last = shaped.at(-1);
    if (isSilent(turn)) continue;
    if (turn.role === 'system') {
      (shaped.length === 0 ? system : notes).push(turn.content);
      continue;
    }
    if (turn.role === 'user') {
      const content = paragraphs([...notes.map(formatNote), turn.content]);
      if (last?.role === 'user') shaped[shaped.length - 1] = joinUser(last.content, content);
      else shaped.push({ role: 'user', content });
    } else {
      system.push(...notes);
      if (turn.role === 'assistant' && shaped.length === 0) {
        shaped.push({ role: 'user', content: LEFT_OUT });
      }
      if (turn.role === 'assistant' && last?.role === 'assistant' && last.toolCalls.length === 0) {
        shaped[shaped.length - 1] = joinReplies(last, turn);
      } else shaped.push(turn);
    }
    notes = [];
  }
  const last = shaped.at(-1);
  if (last?.role === 'user') {
    shaped[shaped.length - 1] = joinUser(last.content, ...notes.map(formatNote));
  } else if (last?.role === 'tool') system.push(...notes);
  else if (notes.length > 0) {
    shaped.push({ role: 'user', content: paragraphs(notes.map(formatNote)) });
  }
  if (system.length === 0) return shaped;
  return [{ role: 'system', content: paragraphs(system) }, ...shaped];
};

const isSilent = (turn: Turn): boolean =>
  turn.role === 'assistant' && turn.content === '' && turn.toolCalls.length === 0;

const paragraphs = (texts: string[]): string => texts.filter((text) => text !== '').join('\n\n');

const formatNote = (text: string): string => `[Note: ${text}]`;

const joinUser = (...texts: string[]): Turn => ({ role: 'user', content: paragraphs(texts) });

const joinReplies = (first: AssistantTurn, second: AssistantTurn): AssistantTurn => ({
  ...second,
  content: paragraphs([first.content, second.content]),
});
