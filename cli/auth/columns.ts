import { shownAs, type TableColumn } from '../columns.js';
import { ago } from '../times.js';

/** A passkey, as its owner and an admin are shown it. */
interface ShownPasskey {
  id: string;
  relyingParty: string;
  lastUsedAt: string | null;
  createdAt: string;
}

/** The columns of a passkey that come after its name and state. */
export const passkeyColumns: TableColumn<ShownPasskey>[] = [
  { name: 'address', value: (one) => one.relyingParty },
  shownAs('used', (one) => one.lastUsedAt, ago, 'never'),
  shownAs('added', (one) => one.createdAt, ago, 'never'),
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];
