import type { TunnelView } from '../../src/client/index.js';

const WARNINGS = {
  unverified: 'This address is unverified: no request from outside has reached it.',
  failed: 'The last check could not reach this address.',
};

interface PublicReach {
  reach: TunnelView['reach'];
  /** Whether the environment of the daemon sets the address, so that no command can change it. */
  publicUrlSetting?: boolean;
}

/** Warnings about an address, with remedies. */
export const reachNotes = ({ reach, publicUrlSetting }: PublicReach): string[] => {
  if (reach !== 'unverified' && reach !== 'failed') return [];
  const prove = 'Verify it: adjutant tunnel check';
  if (publicUrlSetting === undefined) return [WARNINGS[reach], prove];
  return publicUrlSetting
    ? [WARNINGS[reach], 'It is set by ADJUTANT_PUBLIC_URL in the environment of the daemon.', prove]
    : [WARNINGS[reach], `${prove}        Remove it: adjutant tunnel forget`];
};
