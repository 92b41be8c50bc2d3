import type { ChannelSender } from '../../src/channels/sender.js';
import type { TestApp } from './app.js';
import { inside } from './inside.js';

export const ADA: ChannelSender = { kind: 'slack', id: 'T1/U1', name: 'Ada Lovelace' };

/** Links a sender to the user without a code exchange. */
export const linkChannel = async (
  { app }: TestApp,
  userId: string,
  sender: ChannelSender = ADA,
) => {
  const { links } = inside(app);
  const { code } = await links.codeFor(userId);
  return links.redeemFrom(sender, code);
};
