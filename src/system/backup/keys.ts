import { randomBytes } from 'node:crypto';
import * as s from '../../kernel/contract/schema.js';
import { openWith, sealWith } from '../../kernel/passphrase.js';
import { isSecretPath } from './home.js';
import { BadBackup } from './manifest.js';

/** The content of `keys.sealed`. All values are base64. */
const SealedKeys = s.object('BackupKeys', {
  /** The newest first; two during a change of the master key. */
  masterKeys: s.list(s.text(64), 2).min(1),
  /** Key of the MAC of the manifest. */
  macKey: s.text(64),
  files: s.list(
    s.object('SealedFile', {
      path: s.text(4096),
      content: s
        .text()
        .allow('')
        .max(2 ** 26),
    }),
    10_000,
  ),
});
type SealedKeys = s.Static<typeof SealedKeys>;

export interface BackupKeys {
  /** The newest first. */
  masterKeys: [Buffer, ...Buffer[]];
  macKey: Buffer;
  files: { path: string; content: Buffer }[];
}

export const sealKeys = async (
  passphrase: string,
  { masterKeys, files }: { masterKeys: Uint8Array[]; files: SealedKeys['files'] },
): Promise<{ sealed: Buffer; macKey: Buffer }> => {
  const macKey = randomBytes(32);
  const keys: SealedKeys = {
    masterKeys: masterKeys.map((key) => Buffer.from(key).toString('base64')),
    macKey: macKey.toString('base64'),
    files,
  };
  const plain = Buffer.from(JSON.stringify(keys));
  const sealed = await sealWith(passphrase, plain);
  plain.fill(0);
  return { sealed, macKey };
};

/** Throws PassphraseError if the keys do not open, and BadBackup if their content is not valid. */
export const openBackupKeys = async (passphrase: string, sealed: Buffer): Promise<BackupKeys> => {
  const plain = await openWith(passphrase, sealed);
  const { error, value } = SealedKeys.validate(JSON.parse(plain.toString()));
  plain.fill(0);
  if (error) throw new BadBackup(`The encrypted keys in the backup are invalid: ${error.message}`);
  const [newest, ...older] = value.masterKeys.map((key) => Buffer.from(key, 'base64'));
  const files = value.files.map(({ path, content }) => ({
    path,
    content: Buffer.from(content, 'base64'),
  }));
  if (!newest || [newest, ...older].some(({ length }) => length !== 32)) {
    throw new BadBackup(
      'The passphrase is correct, but the encrypted keys in the backup contain no valid master key',
    );
  }
  const odd = files.find(({ path }) => !isSecretPath(path) || path.split('/').some(isOdd));
  if (odd)
    throw new BadBackup(
      `The encrypted keys in the backup contain a forbidden file: ${JSON.stringify(odd.path)}`,
    );
  return { masterKeys: [newest, ...older], macKey: Buffer.from(value.macKey, 'base64'), files };
};

const isOdd = (part: string): boolean => part === '' || part === '.' || part === '..';
