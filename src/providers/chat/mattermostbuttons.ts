import { createHmac } from 'node:crypto';
import { isSame } from '../../kernel/signature.js';
import { type ButtonChoice, buttonDecision, buttonScopeIn, SCOPE_LABELS } from './buttonscopes.js';
import { asObject, asText } from './call.js';
import type { ButtonEvent, PlatformQuestion, PlatformReach } from './platform.js';

export const questionIn = (part: unknown): PlatformQuestion | null => {
  const { approvalId, digest, grantScopes } = asObject(part);
  if (!asText(approvalId) || !asText(digest)) return null;
  const scopes = Array.isArray(grantScopes)
    ? grantScopes.flatMap((one) => buttonScopeIn(one) ?? [])
    : [];
  return {
    approvalId: asText(approvalId),
    digest: asText(digest),
    ...(scopes.length > 0 && { grantScopes: scopes }),
  };
};

/**
 * The request of a pressed button has no token. Its context, which Mattermost shows to no client,
 * contains the proof.
 */
export const buildMattermostButtons = (
  question: PlatformQuestion,
  userId: string,
  { settings, receiver }: PlatformReach,
) => {
  // Buttons have no effect while receiving is off.
  if (!settings.secrets.commandTokens) return null;
  const key = settings.secrets.botToken ?? '';
  const button = (id: ButtonChoice, name: string, style: string) => ({
    id,
    type: 'button',
    name,
    style,
    integration: {
      url: receiver,
      context: signButtonContext(key, { ...question, userId, choice: id }),
    },
  });
  const actions = [
    button('approve', 'Approve', 'good'),
    button('deny', 'Deny', 'danger'),
    ...(question.grantScopes ?? []).map((scope) => button(scope, SCOPE_LABELS[scope], 'default')),
  ];
  return { attachments: [{ fallback: 'Approve or deny', actions }] };
};

interface PressedButton extends PlatformQuestion {
  userId: string;
  choice: ButtonChoice;
}

const signButtonContext = (key: string, { userId, approvalId, digest, choice }: PressedButton) => {
  const signed = JSON.stringify([userId, approvalId, digest, choice]);
  const mac = createHmac('sha256', key).update(signed).digest('hex');
  return { approvalId, digest, answer: choice, mac };
};

/** This proves nothing. */
const pressedIn = (body: Record<string, unknown>): PressedButton | null => {
  const { approvalId, digest, answer: choice } = asObject(body.context);
  const pressed = choice === 'approve' || choice === 'deny' ? choice : buttonScopeIn(choice);
  const question = questionIn({ approvalId, digest });
  if (!pressed || !question) return null;
  return { ...question, userId: asText(body.user_id), choice: pressed };
};

export const isOurButton = (body: Record<string, unknown>, key: string): boolean => {
  const pressed = pressedIn(body);
  if (!pressed || key === '') return false;
  const input = Buffer.from(asText(asObject(body.context).mac));
  return isSame(input, Buffer.from(signButtonContext(key, pressed).mac));
};

export const buttonIn = (
  body: Record<string, unknown>,
): Pick<ButtonEvent, 'approvalId' | 'digest' | 'approved' | 'scope'> | null => {
  const pressed = pressedIn(body);
  if (!pressed) return null;
  const { approvalId, digest, choice } = pressed;
  return { approvalId, digest, ...buttonDecision(choice) };
};
