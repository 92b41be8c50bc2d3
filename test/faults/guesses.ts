import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generate } from 'otplib';
import { createClient } from '../../src/client/client.js';
import { loginOwner } from '../harness/account.js';
import { PASSWORD } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';

/**
 * Guesses behind a tunnel that tells no addresses: `node dist/test/faults/guesses.js`. Exit 1 where
 * more than 15 of them were judged, or the owner's device did not get in soon.
 */
const { values } = parseArgs({
  options: {
    guesses: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
  },
});

const MOST_JUDGED = 15;
const OWNER_MS = 3000;
const SETTLING_MS = 500;
const guesses = Number(values.guesses);
const lengthMs = Number(values.seconds) * 1000;

const home = await mkdtemp(join(tmpdir(), 'adjutant-guesses-'));
const env = { ADJUTANT_ADMIN_USERNAME: 'owner', ADJUTANT_ADMIN_PASSWORD: PASSWORD };
const daemon = await startDaemon({ home, env });
try {
  const owner = await loginOwner(daemon.url);
  const { secret } = await owner.totp.setup({ body: {} });
  await owner.totp.enable({ body: { code: await generate({ secret }) } });
  const credentials = { username: 'owner', password: PASSWORD };
  const client = createClient({ url: daemon.url });
  const first = { ...credentials, totpCode: await generate({ secret }) };
  const { deviceToken = '' } = await client.auth.login({ body: first });
  await owner.tunnel.set({
    body: {
      ...{ provider: 'ssh', target: 'nobody@127.0.0.1', sshPort: 9, remotePort: 8305 },
      publicUrl: 'https://hooks.example.org',
    },
  });
  await owner.tunnel.start();

  const answers: Record<number, number> = {};
  const guess = async (): Promise<void> => {
    const response = await fetch(`${daemon.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'owner', password: 'wrong password' }),
    });
    await response.arrayBuffer();
    answers[response.status] = (answers[response.status] ?? 0) + 1;
  };
  const since = performance.now();
  const left = (): number => since + lengthMs - performance.now();
  const worker = async (): Promise<void> => {
    while (left() > 0) {
      await guess();
      await wait(Math.min((10 * lengthMs) / guesses, Math.max(0, left())));
    }
  };
  const flood = Promise.all(Array.from({ length: guesses }, guess)).then(() =>
    Promise.all(Array.from({ length: 10 }, worker)),
  );
  await wait(SETTLING_MS);
  // The step of the first login is spent: the next code is of another.
  const next = 30_000 - (Date.now() % 30_000);
  await wait(Math.min(next, lengthMs));
  const began = performance.now();
  const totpCode = await generate({ secret });
  await client.auth.login({ body: { ...credentials, totpCode, deviceToken } });
  const ownerMs = Math.round(performance.now() - began);
  await wait(Math.max(0, left()));
  const judged = answers[401] ?? 0;
  console.log(
    `${guesses} guesses at once and on for ${lengthMs / 1000} s: ${JSON.stringify(answers)}`,
  );
  console.log(`judged ${judged}, the owner's device in after ${ownerMs} ms`);
  process.exitCode = judged <= MOST_JUDGED && ownerMs <= OWNER_MS ? 0 : 1;
  await flood;
} finally {
  await daemon.end('SIGTERM');
  await rm(home, { recursive: true });
}
