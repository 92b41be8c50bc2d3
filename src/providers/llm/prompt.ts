/** A user turn of `spawn_agent`, or plain text. */
export type Prompt = ReturnType<typeof readPrompt>;

const SEPARATOR = '--- Webhook Payload ---';
const EVENT_LABEL = 'Event type: ';

/**
 * Splits at the first separator (spec: Inbound webhook receiver, rule 7), so that a payload that
 * contains one stays whole.
 */
export const readPrompt = (content: string) => {
  const at = `\n${content}\n`.indexOf(`\n${SEPARATOR}\n`);
  if (at < 0) return { task: content.trim(), payload: null, event: null };
  const rest = content.slice(at + SEPARATOR.length + 1);
  const lastLine = rest.slice(rest.lastIndexOf('\n') + 1);
  const isEvent = lastLine.startsWith(EVENT_LABEL);
  return {
    task: content.slice(0, at).trim(),
    payload: (isEvent ? rest.slice(0, -lastLine.length) : rest).trim(),
    event: isEvent ? lastLine.slice(EVENT_LABEL.length).trim() : null,
  };
};
