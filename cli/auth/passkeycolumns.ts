import type { Column } from '../columns.js';
import { age } from '../times.js';

/** A passkey, as its owner and an admin are shown it. */
interface ShownPasskey {
  id: string;
  relyingParty: string;
  lastUsedAt: string | null;
  createdAt: string;
}

/** The columns of a passkey that come after its name and state. */
export const passkeyColumns: Column<ShownPasskey>[] = [
  { name: 'address', value: (one) => one.relyingParty },
  {
    name: 'used',
    value: (one) => one.lastUsedAt,
    show: (one) => (one.lastUsedAt ? age(one.lastUsedAt) : 'never'),
  },
  { name: 'added', value: (one) => one.createdAt, show: (one) => age(one.createdAt) },
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];
