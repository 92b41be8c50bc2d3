import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { NamedError } from './failure.js';

type SealHeader = ReturnType<typeof headerOf>;

/** The error of a wrong passphrase or damaged bytes. */
export class PassphraseError extends NamedError {}

export const MIN_PASSPHRASE_LENGTH = 8;
/** The cost of the key, more than twice that of a login: it is paid once for a backup. */
const COST = { memoryKiB: 65_536, passes: 3, lanes: 1 };
/** The highest accepted cost, because a header comes from outside. */
const MOST = { memoryKiB: 1_048_576, passes: 16, lanes: 8 };
const MAX_HEADER_LENGTH = 1024;
const TAG = 16;

/**
 * Seals bytes with a passphrase: argon2id (RFC 9106) makes the key, AES-256-GCM seals. Form: one
 * line of JSON with version and parameters, which is the associated data, then ciphertext ‖
 * tag(16).
 */
export const sealWith = async (passphrase: string, plain: Buffer): Promise<Buffer> => {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const header = headerOf(COST, salt.toString('base64'), nonce.toString('base64'));
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  const key = await keyOf(passphrase, header);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(line);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  key.fill(0);
  return Buffer.concat([line, body, cipher.getAuthTag()]);
};

/** Opens sealed bytes. Throws PassphraseError if they do not open. */
export const openWith = async (passphrase: string, sealed: Buffer): Promise<Buffer> => {
  const end = sealed.subarray(0, MAX_HEADER_LENGTH).indexOf('\n') + 1;
  const header = headerIn(sealed.subarray(0, end));
  const body = sealed.subarray(end);
  if (!header || body.length < TAG) throw new PassphraseError('The sealed keys are damaged');
  const key = await keyOf(passphrase, header);
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(header.nonce, 'base64'))
    .setAAD(sealed.subarray(0, end))
    .setAuthTag(body.subarray(-TAG));
  key.fill(0);
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG)), decipher.final()]);
  } catch {
    throw new PassphraseError('The passphrase is wrong');
  }
};

/**
 * Returns the line of JSON before the sealed bytes as an object. It states the cost, so that the
 * cost can rise without a new format. Salt and nonce are in base64.
 */
const headerOf = (cost: typeof COST, salt: string, nonce: string) => ({
  version: 1,
  kdf: 'argon2id',
  ...cost,
  salt,
  cipher: 'aes-256-gcm',
  nonce,
});

/** Derives the key. The library is loaded on first use. */
const keyOf = async (passphrase: string, header: SealHeader): Promise<Buffer> => {
  const { hashRaw } = await import('@node-rs/argon2');
  return hashRaw(Buffer.from(passphrase.normalize('NFKC')), {
    memoryCost: header.memoryKiB,
    timeCost: header.passes,
    parallelism: header.lanes,
    salt: Buffer.from(header.salt, 'base64'),
    outputLen: 32,
  });
};

/** Returns null if the line is not a header of a known version, or if its cost is too high. */
const headerIn = (line: Buffer): SealHeader | null => {
  const [, memory, passes, lanes, salt = '', nonce = ''] =
    /^\{"version":1,"kdf":"argon2id","memoryKiB":(\d{1,8}),"passes":(\d{1,3}),"lanes":(\d{1,2}),"salt":"([\w+/=]{24})","cipher":"aes-256-gcm","nonce":"([\w+/=]{16})"\}\n$/.exec(
      line.toString('latin1'),
    ) ?? [];
  const cost = { memoryKiB: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  const isFair =
    within(cost.memoryKiB, 8 * cost.lanes, MOST.memoryKiB) &&
    within(cost.passes, 1, MOST.passes) &&
    within(cost.lanes, 1, MOST.lanes);
  return isFair ? headerOf(cost, salt, nonce) : null;
};

const within = (value: number, least: number, most: number): boolean =>
  value >= least && value <= most;
