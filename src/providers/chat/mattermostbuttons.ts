import { createHmac } from 'node:crypto';
import { isSame } from '../../kernel/signature.js';
import { asObject, asText } from './call.js';
import type { ButtonEvent, PlatformQuestion, PlatformReach } from './platform.js';

type ButtonChoice = 'approve' | 'deny';

/** Returns the question in a message part; null if there is none. */
export const questionIn = (part: unknown): PlatformQuestion | null => {
  const { approvalId, digest } = asObject(part);
  return asText(approvalId) && asText(digest)
    ? { approvalId: asText(approvalId), digest: asText(digest) }
    : null;
};

/**
 * Returns the buttons under a question to that user: an attachment with actions. Mattermost's
 * request for a pressed button carries no token. It carries the button's context, which Mattermost
 * shows to no client, so the context holds the proof.
 */
export const buttonsOf = (
  question: PlatformQuestion,
  userId: string,
  { settings, receiver }: PlatformReach,
) => {
  // A button has no effect while receiving is off.
  if (!settings.secrets.commandTokens) return null;
  const key = settings.secrets.botToken ?? '';
  const button = (id: ButtonChoice, name: string, style: string) => ({
    id,
    type: 'button',
    name,
    style,
    integration: { url: receiver, context: contextOf(key, { ...question, userId, choice: id }) },
  });
  const actions = [button('approve', 'Approve', 'good'), button('deny', 'Deny', 'danger')];
  return { attachments: [{ fallback: 'Approve or deny', actions }] };
};

interface PressedButton extends PlatformQuestion {
  userId: string;
  choice: ButtonChoice;
}

const contextOf = (key: string, { userId, approvalId, digest, choice }: PressedButton) => {
  const signed = JSON.stringify([userId, approvalId, digest, choice]);
  const mac = createHmac('sha256', key).update(signed).digest('hex');
  return { approvalId, digest, answer: choice, mac };
};

/** Returns the pressed button as the request states it. This proves nothing. */
const pressedIn = (body: Record<string, unknown>): PressedButton | null => {
  const { approvalId, digest, answer: choice } = asObject(body.context);
  if (choice !== 'approve' && choice !== 'deny') return null;
  const question = questionIn({ approvalId, digest });
  return question && { ...question, userId: asText(body.user_id), choice };
};

/** True if the button is ours and was pressed by the user to whom it was shown. */
export const isOurButton = (body: Record<string, unknown>, key: string): boolean => {
  const pressed = pressedIn(body);
  if (!pressed || key === '') return false;
  const given = Buffer.from(asText(asObject(body.context).mac));
  return isSame(given, Buffer.from(contextOf(key, pressed).mac));
};

export const buttonIn = (
  body: Record<string, unknown>,
): Pick<ButtonEvent, 'approvalId' | 'digest' | 'approved'> | null => {
  const pressed = pressedIn(body);
  if (!pressed) return null;
  const { approvalId, digest, choice } = pressed;
  return { approvalId, digest, approved: choice === 'approve' };
};
