import type { ChannelSender } from '../../src/channels/sender.js';
import type { TestApp } from './app.js';
import { inside } from './inside.js';

/** Somebody on a platform. */
export const ADA: ChannelSender = { kind: 'slack', id: 'T1/U1', name: 'Ada Lovelace' };

/** A sender that is linked to the user, as if it had sent a code that the user made. */
export const linkChannel = async (
  { app }: TestApp,
  userId: string,
  sender: ChannelSender = ADA,
) => {
  const { links } = inside(app);
  const { code } = await links.codeFor(userId);
  return links.redeemFrom(sender, code);
};
