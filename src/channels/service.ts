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
    /** Throws 429 after too many wrong codes or passwords. */
    refuseFlood(attempt: LinkAttempt): Promise<void>;
    addFailure(attempt: LinkAttempt): Promise<void>;
    /**
     * Throws 403 `password_required` later than ten minutes after login, 401 or 429 for a wrong
     * password.
     */
    proveFresh(by: Caller, password?: string): Promise<void>;
  };
}

/** Checks the age of the login first, since the code is valid for one attempt. */
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

/** Only the server of a topic, whose name is as sensitive as a secret. */
const auditedAddress = (kind: ChannelRow['kind'], address: string): string =>
  kind === 'ntfy' && URL.canParse(address) ? new URL(address).origin : address;

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
