import { randomBytes } from 'node:crypto';
import { systemClock } from './clock.js';
import { createFairQueue, QueueFull } from './fairqueue.js';
import { getNetworkPrefix } from './rate.js';

const AT_ONCE = 2;
const QUEUE = 50;
const MEASURED = 16;
export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** Minimum of OWASP's Password Storage Cheat Sheet: 19 MiB, 2 passes. */
const PASSWORD_COST: PasswordCost = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

const decoyHash = ({ memoryCost, timeCost, parallelism }: PasswordCost): string => {
  const [salt, hash] = [16, 32].map((size) =>
    randomBytes(size).toString('base64').replace(/=+$/, ''),
  );
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
};

export class PasswordsBusy extends Error {
  readonly retryAfterSeconds = 2;
}

export type Passwords = ReturnType<typeof createPasswords>;

/**
 * Hashing uses the thread pool of DNS and files, so two run concurrently, fifty wait and others are
 * refused. Both methods throw PasswordsBusy.
 */
export const createPasswords = (cost: PasswordCost = PASSWORD_COST) => {
  const turns = createFairQueue({ atOnce: AT_ONCE, waiting: QUEUE });
  const decoy = decoyHash(cost);
  const library = () => import('@node-rs/argon2');

  const times = createTimes();

  const gated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof QueueFull ? new PasswordsBusy('Too many concurrent logins') : error;
    }
  };

  return {
    /** Normalized to NFC (NIST SP 800-63B), in PHC string format. */
    hash: (password: string): Promise<string> =>
      gated(() =>
        turns.take('', async () => (await library()).hash(password.normalize('NFC'), cost)),
      ),
    /**
     * `null` (unknown user) and '' (no password) take as long as a wrong password, so that nobody
     * learns which names exist. Under load such checks only wait, so that invented names delay no
     * account. `from`: client address; under load addresses take turns, those with wrong passwords
     * last, known clients first. Old hashes may not be NFC, so other forms are tried as well.
     */
    verify: async (
      known: string | null,
      password: string,
      from: string,
      { isKnown } = { isKnown: false },
    ): Promise<boolean> => {
      const asker = getNetworkPrefix(from);
      const { verify } = await library();
      const check = (one: string) => times.measure(() => verify(known || decoy, one));
      const instead = known ? undefined : () => times.pass();
      const forms = [...new Set([password.normalize('NFC'), password])];
      const position = { isFirst: isKnown, instead };
      const matches = await Promise.all(
        forms.map((one) => gated(() => turns.take(asker, () => check(one), position))),
      );
      const isRight = matches.includes(true) && Boolean(known);
      if (!isRight) turns.blame(asker);
      return isRight;
    },
  };
};

const createTimes = () => {
  const last: number[] = [];
  return {
    measure: async <T>(work: () => Promise<T>): Promise<T> => {
      const since = performance.now();
      const done = await work();
      last.push(performance.now() - since);
      if (last.length > MEASURED) last.shift();
      return done;
    },
    pass: async (): Promise<false> => {
      await systemClock.wait(last[Math.floor(Math.random() * last.length)] ?? 0);
      return false;
    },
  };
};
