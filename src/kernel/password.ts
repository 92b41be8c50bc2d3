import { randomBytes } from 'node:crypto';

const AT_ONCE = 2;
const QUEUE = 50;
/** OWASP's first choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

/** A hash of that cost that no password has. */
const decoyHash = (): string => {
  const [salt, hash] = [16, 32].map((size) =>
    randomBytes(size).toString('base64').replace(/=+$/, ''),
  );
  const { memoryCost, timeCost, parallelism } = COST;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
};

/** Too many passwords wait to be checked; try again after `retryAfterSeconds`. */
export class PasswordsBusy extends Error {
  readonly retryAfterSeconds = 2;
}

export interface Passwords {
  hash(password: string): Promise<string>;
  /** `null` costs as much as a wrong password, so that nobody learns which names exist. */
  verify(hash: string | null, password: string): Promise<boolean>;
}

/**
 * Argon2id behind a gate: hashing holds the pool of threads that DNS and files share, so two run
 * at a time, fifty wait, and the rest is refused. The library is loaded on first use.
 */
export const createPasswords = (): Passwords => {
  let running = 0;
  const queue: (() => void)[] = [];
  const decoy = decoyHash();

  const gated = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= AT_ONCE) {
      if (queue.length >= QUEUE) throw new PasswordsBusy('Too many logins at once');
      await new Promise<void>((resolve) => queue.push(resolve));
    } else {
      running++;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running--;
    }
  };

  const library = () => import('@node-rs/argon2');
  return {
    hash: (password) => gated(async () => (await library()).hash(password, COST)),
    verify: async (known, password) => {
      const matches = await gated(async () => (await library()).verify(known ?? decoy, password));
      return matches && known !== null;
    },
  };
};
