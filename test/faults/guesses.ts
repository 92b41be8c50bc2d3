import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generate } from 'otplib';
import { createClient } from '../../src/client/client.js';
import { ApiError } from '../../src/client/errors.js';
import { loginOwner } from '../harness/account.js';
import { PASSWORD } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';

/**
 * Guesses behind a tunnel that tells no addresses, and logins of made-up names beside them:
 * `node dist/test/faults/guesses.js`. Exit 1 where more than 15 guesses were judged, the owner's
 * device did not get in soon each time, or a made-up name was answered otherwise than a guess.
 */
const { values } = parseArgs({
  options: {
    guesses: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
    names: { type: 'string', default: '150' },
  },
});

const MAX_JUDGED = 15;
const OWNER_MS = 3000;
const SETTLING_MS = 500;
const STEP_S = 30;
const OWNER_ROUNDS = 6;
const PAUSE_MS = 300;
const guesses = Number(values.guesses);
const names = Number(values.names);
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

  type Answers = Record<number, number>;
  const answers: Answers = {};
  const anonymousLimit: Answers = {};
  const guess = async (username = 'owner', counts = answers): Promise<void> => {
    const response = await fetch(`${daemon.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password: 'wrong password' }),
    });
    await response.arrayBuffer();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  };
  const since = performance.now();
  const left = (): number => since + lengthMs - performance.now();
  const worker = async (): Promise<void> => {
    while (left() > 0) {
      await guess();
      await wait(Math.min((10 * lengthMs) / guesses, Math.max(0, left())));
    }
  };
  const stranger = async (): Promise<void> => {
    while (left() > 0) await guess(randomUUID(), anonymousLimit);
  };
  const flood = Promise.all([
    Promise.all(Array.from({ length: guesses }, () => guess())).then(() =>
      Promise.all(Array.from({ length: 10 }, worker)),
    ),
    ...Array.from({ length: names }, stranger),
  ]);
  await wait(SETTLING_MS);
  const ownerTimes: number[] = [];
  for (let round = 0; round < OWNER_ROUNDS; round++) {
    const began = performance.now();
    // The step of the first login is spent, so the code is of the next one, which counts already. The
    // other rounds pass up to where a code is asked for.
    const totpCode = await generate({ secret, epoch: Math.floor(Date.now() / 1000) + STEP_S });
    const sent = { ...credentials, deviceToken, ...(round === 0 && { totpCode }) };
    const code = await client.auth.login({ body: sent }).then(
      () => 'in',
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    );
    const isPassed = code === (round === 0 ? 'in' : 'totp_required');
    ownerTimes.push(isPassed ? Math.round(performance.now() - began) : Number.POSITIVE_INFINITY);
    await wait(PAUSE_MS);
  }
  const ownerMs = Math.max(...ownerTimes);
  await wait(Math.max(0, left()));
  const judged = answers[401] ?? 0;
  console.log(
    `${guesses} guesses at once and on for ${lengthMs / 1000} s: ${JSON.stringify(answers)}`,
  );
  await flood;
  console.log(`${names} clients with made-up names: ${JSON.stringify(anonymousLimit)}`);
  console.log(`judged ${judged}, the owner's device in after ${ownerTimes.join(', ')} ms`);
  const isAlike = Object.keys(anonymousLimit).every((status) => status === '401');
  process.exitCode = judged <= MAX_JUDGED && ownerMs <= OWNER_MS && isAlike ? 0 : 1;
} finally {
  await daemon.end('SIGTERM');
  await rm(home, { recursive: true });
}
