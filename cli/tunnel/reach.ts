import type { TunnelView } from '../../src/client/index.js';

const WARNINGS = {
  unverified: 'This address is unverified: nobody has reached it from outside.',
  failed: 'The last check did not come through to this address.',
};

/** Warnings about an address before it is handed out. */
export const reachNotes = (reach: TunnelView['reach']): string[] =>
  reach === 'unverified' || reach === 'failed'
    ? [WARNINGS[reach], 'Prove it: adjutant tunnel check        Forget it: adjutant tunnel forget']
    : [];

/** Beside a link for somebody who may sit at another machine. */
export const NOT_REACHED =
  'It opens on this machine alone. For others: adjutant tunnel setup, then make it anew';
