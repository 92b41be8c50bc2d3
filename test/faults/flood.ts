import { parseArgs } from 'node:util';
import { deluge } from './deluge.js';

/**
 * A flood of wrong logins (G12): `node dist/test/faults/flood.js --logins 1000 --seconds 30`.
 * Exit 1 where webhooks were slow or refused, or the owner did not get in soon.
 */
const { values } = parseArgs({
  options: {
    logins: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
    addresses: { type: 'string', default: '500' },
  },
});

const WEBHOOK_P99_MS = 100;
const OWNER_MS = 3000;

const toll = await deluge({
  logins: Number(values.logins),
  seconds: Number(values.seconds),
  addresses: Number(values.addresses),
});
console.log(`${values.logins} wrong logins in ${values.seconds} s: ${JSON.stringify(toll.wrong)}`);
console.log(`webhooks ${toll.webhooks}, refused ${toll.refused}, p99 ${toll.webhookP99Ms} ms`);
console.log(`owner in after at most ${toll.ownerMs} ms, ${toll.ownerLogins} times`);
const isKept =
  toll.refused === 0 && toll.webhookP99Ms <= WEBHOOK_P99_MS && toll.ownerMs <= OWNER_MS;
process.exitCode = isKept ? 0 : 1;
