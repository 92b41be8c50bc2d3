import type { ChannelKind } from '../store/tables/channels.js';

export interface ChannelSender {
  kind: ChannelKind;
  /** Permanent and never reused; includes the team or server. */
  id: string;
  /** Second identifier that is never reused. `id` can be reused, such as a phone number. */
  otherId?: string | undefined;
  /** Shown, never trusted. */
  name: string;
}

export const ACTS_AS_USER = 'Messages from it act as you.';

const MAX_NAME_LENGTH = 100;

/** One line, without characters that hide text; the id if nothing is left. */
export const senderDisplayName = ({ id, name }: ChannelSender): string => {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim();
  return [...visible].slice(0, MAX_NAME_LENGTH).join('') || id;
};
