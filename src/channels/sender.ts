import type { ChannelKind } from '../store/tables/channels.js';

/** The writer of a message on a channel, as the platform verified it. */
export interface ChannelSender {
  kind: ChannelKind;
  /**
   * Identifier that never changes and is never given to another sender; it includes the team or
   * server.
   */
  id: string;
  /**
   * A second identifier of the same sender, which is never given to another one. `id` may be: a number
   * that was given up.
   */
  otherId?: string | undefined;
  /** Present display name. It is shown, never trusted. */
  name: string;
}

/** The meaning of a link to a chat where people write. */
export const SPEAKS = 'Messages from it act as you.';

const MAX_NAME_LENGTH = 100;

/**
 * Returns the name on one line, without characters that hide text or change its direction; the id
 * if nothing is left.
 */
export const shownName = ({ id, name }: ChannelSender): string => {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim();
  return [...visible].slice(0, MAX_NAME_LENGTH).join('') || id;
};
