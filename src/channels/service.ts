import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { Redemption } from './contract.js';
import { LinkRefused, type Links } from './links.js';

interface LinkAttempt {
  userId: string;
  by: Caller;
}

export interface LinkingDeps {
  links: Links;
  accounts: {
    /** Replies with 429 after too many wrong codes or passwords. */
    refuseFlood(attempt: LinkAttempt): Promise<void>;
    addFailure(attempt: LinkAttempt): Promise<void>;
    /**
     * Replies with 403 `password_required` later than ten minutes after login, and with 401 or 429
     * for a wrong password.
     */
    proveFresh(by: Caller, password?: string): Promise<void>;
  };
}

/**
 * Redeems a link code. The age of the login is checked before the code, which is valid for one try.
 */
export const redeemLinkCode = async (
  deps: LinkingDeps,
  by: Caller & Recorder,
  { code, password }: Redemption,
): Promise<ChannelRow> => {
  await deps.accounts.proveFresh(by, password);
  return guarded(deps, by, () =>
    deps.links.redeem(by.userId, code, ({ id, kind, sender_id }) => [
      by.record({ target: id, data: { kind, address: auditedAddress(kind, sender_id) } }),
    ]),
  );
};

/** Returns the server alone of a topic, whose name is as good as a secret. */
const auditedAddress = (kind: ChannelRow['kind'], address: string): string =>
  kind === 'ntfy' && URL.canParse(address) ? new URL(address).origin : address;

/** Runs the work and counts a wrong code like a wrong password. */
export const guarded = async <T>(
  { accounts }: LinkingDeps,
  by: Caller,
  work: () => Promise<T>,
): Promise<T> => {
  await accounts.refuseFlood({ userId: by.userId, by });
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LinkRefused)) throw error;
    const { message, reason: code } = error;
    if (code !== 'wrong_code') throw Boom.conflict(message, { code });
    await accounts.addFailure({ userId: by.userId, by });
    throw Boom.notFound(message, { code });
  }
};
