import { migrations } from '../../../migrations/all.js';
import { openStore } from '../../../src/store/store.js';
import { entry, LEDGER_KEY } from './ledger.js';

/** Writes to the audit log of the home that is its argument, without an end. */
const home = process.argv[2] ?? '';
const events = { lost: () => process.exit(1), audited: () => undefined };
const store = await openStore({ home, migrations, auditKey: LEDGER_KEY }, events);
for (let n = 0; ; n++) {
  await store.transact([{ audit: entry({ id: `audit_${process.pid}_${n}` }) }]);
  if (n === 0) console.log('begun');
}
