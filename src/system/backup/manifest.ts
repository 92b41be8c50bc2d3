import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import * as s from '../../kernel/contract/schema.js';

/** File names in a backup that do not come from the home. */
export const KEYS = 'keys.sealed';
export const MANIFEST = 'manifest.json';
/** `<SHA-256 of the manifest> <HMAC of the manifest, under a key that is sealed with the others>\n` */
export const SUM = 'manifest.sum';

export const FORMAT = 1;
const MAX_FILES = 1_000_000;

const BackupFile = s.object('BackupFile', {
  path: s.text(4096),
  size: s.integer(0, Number.MAX_SAFE_INTEGER),
  sha256: s.text(64),
});
export type BackupFile = s.Static<typeof BackupFile>;

/** Contains no secret. */
const Manifest = s.object('BackupManifest', {
  format: s.integer(1, 1000),
  /** Version of the package that created the backup. */
  version: s.text(100),
  schema: s.integer(0, 1_000_000),
  /** The backup contains everything that was acknowledged before this time. */
  createdAt: s.time(),
  newestDelivery: s.nullable(s.object('BackupDelivery', { id: s.text(80), receivedAt: s.time() })),
  /** Names of the settings of the daemon. Their values are not in the backup. */
  settings: s.list(s.text(100)),
  /** Paths in the home that are not in the backup, each with the reason. */
  skipped: s.list(s.text(5000), MAX_FILES),
  files: s.list(BackupFile, MAX_FILES),
});
export type Manifest = s.Static<typeof Manifest>;

/** The file is not a valid backup. The message is for the operator. */
export class BadBackup extends Error {
  override name = 'BadBackup';

  constructor(fault: string, remedy = 'Use another backup') {
    super(`${fault}. ${remedy}`);
  }
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const computeMac = (key: Buffer, bytes: Buffer): string =>
  createHmac('sha256', key).update(bytes).digest('hex');

export const computeManifestSum = (manifest: Buffer, macKey: Buffer): Buffer =>
  Buffer.from(`${sha256(manifest)} ${computeMac(macKey, manifest)}\n`);

/** Checks the digest. Throws BadBackup. */
export const readManifest = (bytes: Buffer, sum: Buffer): Manifest => {
  const [, digest] = /^([0-9a-f]{64}) [0-9a-f]{64}\n$/.exec(sum.toString('latin1')) ?? [];
  if (digest !== sha256(bytes)) throw new BadBackup('The manifest of the backup was changed');
  const { error, value } = Manifest.validate(JSON.parse(bytes.toString()));
  if (error) throw new BadBackup(`The manifest of the backup is invalid: ${error.message}`);
  if (value.format !== FORMAT) {
    throw new BadBackup(
      `The backup has format ${value.format}. This version supports format ${FORMAT}`,
      'Update Adjutant',
    );
  }
  return value;
};

/** The MAC cannot be made without the passphrase. Throws BadBackup. */
export const verifyManifestMac = (bytes: Buffer, sum: Buffer, macKey: Buffer): void => {
  const actual = Buffer.from(sum.toString('latin1').slice(65, -1));
  const expected = Buffer.from(computeMac(macKey, bytes));
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
    throw new BadBackup('The manifest of the backup was not created with the keys in the backup');
  }
};
