import type { TunnelView } from '../../src/client/index.js';

const WARNINGS = {
  unverified: 'This address is unverified: nobody has reached it from outside.',
  failed: 'The last check did not come through to this address.',
};

/** A public address, as far as it is known. */
interface PublicReach {
  reach: TunnelView['reach'];
  /** True if the daemon's environment says the address, which no command changes then. */
  publicUrlSetting?: boolean;
}

/** Warnings about an address before it is handed out, and what can be done. */
export const reachNotes = ({ reach, publicUrlSetting }: PublicReach): string[] => {
  if (reach !== 'unverified' && reach !== 'failed') return [];
  const prove = 'Prove it: adjutant tunnel check';
  if (publicUrlSetting === undefined) return [WARNINGS[reach], prove];
  return publicUrlSetting
    ? [WARNINGS[reach], 'It is ADJUTANT_PUBLIC_URL in the environment of the daemon.', prove]
    : [WARNINGS[reach], `${prove}        Forget it: adjutant tunnel forget`];
};
