import { parseArgs } from 'node:util';
import { burst } from './burst.js';
import { dispatch } from './dispatch.js';

/**
 * Messages while half of the endpoints fail: `node dist/test/faults/outbox.js --notices 10000
 * --seconds 40 --users 40`; then as many that wait at one instant, three times. Exit 1 where one was
 * lost, or the good ones waited.
 */
const { values } = parseArgs({
  options: {
    notices: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '40' },
    users: { type: 'string', default: '40' },
  },
});

const P99_MS = 1000;

const delays = await dispatch({
  notices: Number(values.notices),
  seconds: Number(values.seconds),
  users: Number(values.users),
});
console.table(delays);
for (const isHalfFailing of [false, true]) {
  const given = { messages: Number(values.notices), endpoints: Number(values.users), bursts: 3 };
  console.log(isHalfFailing ? 'bursts, half of each to endpoints that fail' : 'bursts');
  console.table(await burst({ ...given, isHalfFailing }));
}
process.exitCode = delays.arrived === delays.expected && delays.p99 <= P99_MS ? 0 : 1;
