import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { NamedError } from './failure.js';

type SealHeader = ReturnType<typeof createSealHeader>;

export class PassphraseError extends NamedError {}

export const MIN_PASSPHRASE_LENGTH = 8;
/** More than twice the cost of a login, because it is paid once per backup. */
const COST = { memoryKiB: 65_536, passes: 3, lanes: 1 };
/** Upper limit, because the header is untrusted. */
const MAX_COST = { memoryKiB: 1_048_576, passes: 16, lanes: 8 };
const MAX_HEADER_LENGTH = 1024;
const TAG = 16;

/**
 * argon2id (RFC 9106) derives the key, AES-256-GCM encrypts. Format: a JSON line with version and
 * parameters, which is associated data, then ciphertext ‖ tag(16).
 */
export const sealWith = async (passphrase: string, plain: Buffer): Promise<Buffer> => {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const header = createSealHeader(COST, salt.toString('base64'), nonce.toString('base64'));
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  const key = await deriveKey(passphrase, header);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(line);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  key.fill(0);
  return Buffer.concat([line, body, cipher.getAuthTag()]);
};

export const openWith = async (passphrase: string, sealed: Buffer): Promise<Buffer> => {
  const end = sealed.subarray(0, MAX_HEADER_LENGTH).indexOf('\n') + 1;
  const header = headerIn(sealed.subarray(0, end));
  const body = sealed.subarray(end);
  if (!header || body.length < TAG)
    throw new PassphraseError('The encrypted keys in the backup are damaged. Use another backup');
  const key = await deriveKey(passphrase, header);
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

/** States the cost, so that the cost can rise without a new format. Salt and nonce are base64. */
const createSealHeader = (cost: typeof COST, salt: string, nonce: string) => ({
  version: 1,
  kdf: 'argon2id',
  ...cost,
  salt,
  cipher: 'aes-256-gcm',
  nonce,
});

const deriveKey = async (passphrase: string, header: SealHeader): Promise<Buffer> => {
  const { hashRaw } = await import('@node-rs/argon2');
  return hashRaw(Buffer.from(passphrase.normalize('NFKC')), {
    memoryCost: header.memoryKiB,
    timeCost: header.passes,
    parallelism: header.lanes,
    salt: Buffer.from(header.salt, 'base64'),
    outputLen: 32,
  });
};

const headerIn = (line: Buffer): SealHeader | null => {
  const [, memory, passes, lanes, salt = '', nonce = ''] =
    /^\{"version":1,"kdf":"argon2id","memoryKiB":(\d{1,8}),"passes":(\d{1,3}),"lanes":(\d{1,2}),"salt":"([\w+/=]{24})","cipher":"aes-256-gcm","nonce":"([\w+/=]{16})"\}\n$/.exec(
      line.toString('latin1'),
    ) ?? [];
  const cost = { memoryKiB: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  const isFair =
    within(cost.memoryKiB, 8 * cost.lanes, MAX_COST.memoryKiB) &&
    within(cost.passes, 1, MAX_COST.passes) &&
    within(cost.lanes, 1, MAX_COST.lanes);
  return isFair ? createSealHeader(cost, salt, nonce) : null;
};

const within = (value: number, least: number, most: number): boolean =>
  value >= least && value <= most;
