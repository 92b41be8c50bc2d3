/** A user turn of `spawn_agent`, or plain text. */
export type Prompt = ReturnType<typeof readPrompt>;

/** The lines above untrusted data, by the kind of the trigger (spec: receiver, rule 7). */
const HEADINGS = ['Webhook Payload', 'E-mail'] as const;
export type PayloadHeading = (typeof HEADINGS)[number];

export const payloadSeparator = (heading: PayloadHeading): string => `--- ${heading} ---`;
export const PAYLOAD_SEPARATORS = HEADINGS.map(payloadSeparator);

const SEPARATOR = new RegExp(`(?<=\\n)(?:${PAYLOAD_SEPARATORS.join('|')})(?=\\n)`);
const EVENT_LABEL = 'Event type: ';

/**
 * Splits at the first separator (spec: Inbound webhook receiver, rule 7), so that a payload that
 * contains one stays whole.
 */
export const readPrompt = (content: string) => {
  const found = SEPARATOR.exec(`\n${content}\n`);
  if (!found) return { task: content.trim(), payload: null, event: null };
  const at = found.index - 1;
  const rest = content.slice(at + found[0].length + 1);
  const lastLine = rest.slice(rest.lastIndexOf('\n') + 1);
  const isEvent = lastLine.startsWith(EVENT_LABEL);
  return {
    task: content.slice(0, at).trim(),
    payload: (isEvent ? rest.slice(0, -lastLine.length) : rest).trim(),
    event: isEvent ? lastLine.slice(EVENT_LABEL.length).trim() : null,
  };
};
