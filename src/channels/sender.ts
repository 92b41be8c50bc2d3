import type { ChannelKind } from '../store/tables/channels.js';

/** Who writes on a channel, as the platform proved it. */
export interface ChannelSender {
  kind: ChannelKind;
  /** Never changes and is never given to another: with the team or server that it is of. */
  id: string;
  /** What they call themselves now. Shown, never trusted. */
  name: string;
}

const LONGEST_NAME = 100;

/** The name on one line, without what hides or turns text; the id where nothing is left of it. */
export const shownName = ({ id, name }: ChannelSender): string => {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '').trim();
  return [...visible].slice(0, LONGEST_NAME).join('') || id;
};
